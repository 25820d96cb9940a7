#include "app/work/commit/marker_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "app/files/sha256.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

constexpr std::string_view kSuffix = ".json";

std::string check_of(std::string_view text) { return sha256_of(text.substr(0, text.rfind("\"check\""))); }

bool has_parts(Store& store) {
  return std::any_of(std::begin(kPartFolders), std::end(kPartFolders), [&store](const char* folder) {
    const auto names = store.names(folder);
    return names && !names->empty();
  });
}

}  // namespace

std::string marker_name(const std::string& unit) { return fmt::format("commits/{}{}", unit, kSuffix); }

std::string unit_of_marker(const std::string& name) {
  const std::size_t begin = std::string_view("commits/").size();
  return name.substr(begin, name.size() - begin - kSuffix.size());
}

std::string marker_text(Json marker) {
  marker["check"] = "";
  marker["check"] = check_of(json_text(marker, 1));
  return json_text(marker, 1) + "\n";
}

Json marker_of(const std::string& text) {
  Json marker = parse_json(text);
  // Markers of earlier versions have none.
  const bool changed = marker.is_object() && marker.contains("check") && marker.at("check") != check_of(text);
  return changed ? Json(nullptr) : marker;
}

std::optional<Json> read_marker(Store& store, const std::string& unit) {
  const auto text = store.read(marker_name(unit));
  return text ? std::optional(marker_of(*text)) : std::nullopt;
}

bool is_committed(Store& store, const std::string& unit) { return store.has(marker_name(unit)); }

std::vector<std::string> committed_units(Store& store) {
  const std::string folder = store.path("commits");
  auto names = store.names("commits");
  // Another run may have begun between two looks: with parts there, the folder must be there, too.
  if (!names && has_parts(store) && !(names = store.names("commits"))) {
    throw Error(ErrorKind::kOutput,
                fmt::format("{}: there is no such folder, but shards, index or quarantine beside it hold files: is the "
                            "whole store there? Where no unit was ever committed, make that folder",
                            folder));
  }
  std::vector<std::string> units;
  for (const std::string& name : names.value_or(std::vector<std::string>{})) {
    if (name.ends_with(kSuffix)) units.push_back(name.substr(0, name.size() - kSuffix.size()));
  }
  return units;
}

}  // namespace saccade
