#include "app/work/store/marker_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "app/read_file.h"
#include "app/sha256.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

constexpr std::string_view kSuffix = ".json";

std::string check_of(std::string_view text) { return sha256_of(text.substr(0, text.rfind("\"check\""))); }

bool has_parts(const std::string& store) {
  return std::any_of(std::begin(kPartFolders), std::end(kPartFolders), [&store](const char* folder) {
    const auto names = list_folder(store + "/" + folder);
    return names && !names->empty();
  });
}

}  // namespace

std::string marker_path(const std::string& store, const std::string& unit) {
  return fmt::format("{}/commits/{}{}", store, unit, kSuffix);
}

std::string marker_text(Json marker) {
  marker["check"] = "";
  marker["check"] = check_of(json_text(marker, 1));
  return json_text(marker, 1) + "\n";
}

std::optional<Json> read_marker(const std::string& store, const std::string& unit) {
  const auto text = read_file(marker_path(store, unit));
  if (!text) return std::nullopt;
  Json marker = parse_json(*text);
  // Markers of earlier versions have none.
  const bool changed = marker.is_object() && marker.contains("check") && marker.at("check") != check_of(*text);
  return changed ? Json(nullptr) : marker;
}

bool is_committed(const std::string& store, const std::string& unit) { return is_there(marker_path(store, unit)); }

std::vector<std::string> committed_units(const std::string& store) {
  const std::string folder = store + "/commits";
  auto names = list_folder(folder);
  // Another run may have begun between two looks: with parts there, the folder must be there, too.
  if (!names && has_parts(store) && !(names = list_folder(folder))) {
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
