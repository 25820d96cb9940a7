#include "app/options_overrides.h"

#include <string>

namespace saccade {
namespace {

// Typing `typed` (as `text`; empty: as anything) with a lattice of kind `lattice` (empty: any) makes `dropped` moot.
struct Override {
  std::string_view typed;
  std::string_view text;
  std::string_view lattice;
  std::string_view dropped;
};

constexpr Override kOverrides[] = {
    {"preset", "", "", "e0"},
    {"preset", "", "", "m0"},
    {"preset", "", "nested", "patches"},
    {"preset", "", "nested", "strides"},
    {"preset", "", "nested", "grid-sizes"},
    {"e0", "", "", "preset"},
    {"e0", "", "nested", "patches"},
    {"e0", "", "nested", "strides"},
    {"e0", "", "nested", "grid-sizes"},
    {"m0", "", "", "preset"},
    {"m0", "", "nested", "strides"},
    {"m0", "", "nested", "grid-sizes"},
    {"patches", "", "nested", "e0"},
    {"patches", "", "nested", "m0"},
    {"patches", "", "nested", "preset"},
    {"patches", "", "nested", "strides"},
    {"patches", "", "nested", "grid-sizes"},
    {"strides", "", "", "patches"},
    {"strides", "", "", "e0"},
    {"strides", "", "", "m0"},
    {"strides", "", "", "preset"},
    {"grid-sizes", "", "", "patches"},
    {"grid-sizes", "", "", "e0"},
    {"grid-sizes", "", "", "m0"},
    {"grid-sizes", "", "", "preset"},
    {"lattice", "nested", "", "lod"},
    {"lattice", "grid", "", "lod"},
    {"lattice", "grid", "", "strides"},
    {"lattice", "grid", "", "grid-sizes"},
    {"lattice", "uniform", "", "strides"},
    {"lattice", "uniform", "", "grid-sizes"},
    {"dtype", "u8", "", "normalize"},
    {"overwrite", "true", "", "resume"},
    {"resume", "true", "", "overwrite"},
    {"hwdec", "no", "", "require-hwdec"},
    {"backend", "cpu", "", "upload"},
};

std::string text_of(const GivenValues& values, std::string_view name) {
  const auto found = values.find(name);
  return found != values.end() ? found->second.text : "";
}

std::string lattice_in_force(const GivenValues& file, const GivenValues& line) {
  for (const GivenValues* values : {&line, &file}) {
    if (values->find("lattice") != values->end()) return text_of(*values, "lattice");
  }
  return std::string(find_option("lattice")->default_text);
}

void drop(GivenValues& values, std::string_view name) {
  if (const auto found = values.find(name); found != values.end()) values.erase(found);
}

}  // namespace

void give_way(GivenValues& file, const GivenValues& line) {
  const std::string lattice = lattice_in_force(file, line);
  for (const Override& rule : kOverrides) {
    if (line.find(rule.typed) == line.end()) continue;
    if (!rule.text.empty() && text_of(line, rule.typed) != rule.text) continue;
    if (!rule.lattice.empty() && lattice != rule.lattice) continue;
    drop(file, rule.dropped);
  }
  if (text_of(line, "require-hwdec") == "true" && text_of(file, "hwdec") == "no") drop(file, "hwdec");
  const std::string upload = text_of(line, "upload");
  if (!upload.empty() && upload != "auto" && text_of(file, "backend") == "cpu") drop(file, "backend");
  // Of a file for another lattice, what the nested one can follow is kept.
  if (text_of(line, "lattice") == "nested") {
    if (file.find("e0") != file.end() || file.find("preset") != file.end()) {
      drop(file, "patches");
    } else if (line.find("e0") == line.end()) {
      drop(file, "m0");
    }
  }
}

}  // namespace saccade
