#include "app/options/overrides.h"

#include <algorithm>
#include <span>
#include <string>

namespace saccade {
namespace {

// Beside option_conflicts(): typing `typed` as `text` makes `dropped` moot, but not the other way round.
struct Override {
  std::string_view typed;
  std::string_view text;
  std::string_view dropped;
};

constexpr Override kOverrides[] = {
    {"dtype", "u8", "normalize"},     {"overwrite", "true", "resume"}, {"resume", "true", "overwrite"},
    {"hwdec", "no", "require-hwdec"}, {"backend", "cpu", "upload"},
};

bool has(const GivenValues& values, std::string_view name) { return values.find(name) != values.end(); }

// Without what follows a colon, as of "uniform:2".
std::string text_of(const GivenValues& values, std::string_view name) {
  const auto found = values.find(name);
  return found != values.end() ? found->second.text.substr(0, found->second.text.find(':')) : "";
}

std::optional<LatticeKind> lattice_in_force(const GivenValues& file, const GivenValues& line) {
  for (const GivenValues* values : {&line, &file}) {
    if (has(*values, "lattice")) return from_name<LatticeKind>(text_of(*values, "lattice"));
  }
  for (const std::string_view option : fovea_options()) {
    if (has(line, option) || has(file, option)) return LatticeKind::kNested;
  }
  return LatticeKind::kAdaptive;
}

void drop(GivenValues& values, std::string_view name) {
  if (const auto found = values.find(name); found != values.end()) values.erase(found);
}

// What of `other` the file holds, where one of `one` is typed.
void drop_opposed(GivenValues& file, const GivenValues& line, std::span<const std::string_view> one,
                  std::span<const std::string_view> other) {
  const bool typed = std::any_of(one.begin(), one.end(), [&](std::string_view name) { return has(line, name); });
  if (!typed) return;
  for (const std::string_view name : other) drop(file, name);
}

// A file for another lattice: what the one that is typed has no use for. Nested can follow an acuity, which is kept.
void drop_of_lattice(GivenValues& file, const GivenValues& line) {
  const auto typed = from_name<LatticeKind>(text_of(line, "lattice"));
  if (!typed) return;
  for (const OptionsOfKinds& row : options_of_kinds()) {
    if (row.allows(*typed)) continue;
    for (const std::string_view name : row.names) drop(file, name);
  }
  if (typed == LatticeKind::kNested && (has(file, "e0") || has(file, "m0") || has(file, "preset"))) {
    for (const char* name : {"tokens", "fovea", "patches"}) drop(file, name);
  }
}

// Settings files hold everything, also for runs of another kind.
void drop_of_command(GivenValues& file, const GivenValues& line) {
  if (has(line, "manifest")) {  // its rows and its store say these
    for (const char* name : {"compact", "views", "overwrite", "resume", "start", "duration", "stream", "loop"})
      drop(file, name);
  }
  if (text_of(line, "offscreen") == "true") drop(file, "serve");
  if (!has(line, "serve") && !has(file, "serve")) drop(file, "serve-origin");
}

}  // namespace

void drop_overridden(GivenValues& file, const GivenValues& line) {
  const std::optional<LatticeKind> lattice = lattice_in_force(file, line);
  for (const auto& pairs : {option_conflicts(), legacy_option_conflicts()}) {
    for (const OptionConflict& pair : pairs) {
      if (pair.kind && lattice != pair.kind) continue;
      drop_opposed(file, line, pair.one, pair.other);
      drop_opposed(file, line, pair.other, pair.one);
    }
  }
  for (const Override& rule : kOverrides) {
    if (has(line, rule.typed) && (text_of(line, rule.typed) == rule.text)) drop(file, rule.dropped);
  }
  drop_of_command(file, line);
  if (text_of(line, "require-hwdec") == "true" && text_of(file, "hwdec") == "no") drop(file, "hwdec");
  if (has(line, "upload") && text_of(line, "upload") != "auto" && text_of(file, "backend") == "cpu") {
    drop(file, "backend");
  }
  drop_of_lattice(file, line);
}

}  // namespace saccade
