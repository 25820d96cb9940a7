#include "app/options/origins.h"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace saccade {
namespace {

// A process has one command line, and errors come from anywhere.
std::map<std::string, std::string, std::less<>> places;  // of options that were not typed

// Settings that --input-format has as its parts.
constexpr std::pair<std::string_view, std::string_view> kParts[] = {
    {"input-size", "video_size"}, {"input-rate", "framerate"}, {"pixel-format", "pixel_format"}};

}  // namespace

std::string origin_of(std::string_view option) {
  const auto found = places.find(option);
  return found != places.end() ? found->second : flag_of(option);
}

std::string flag_of(std::string_view option) {
  const ProgramOption* row = find_option(option);
  if (row != nullptr && !row->place().short_name.empty()) return fmt::format("-{}", row->place().short_name);
  for (const auto& [setting, part] : kParts) {
    if (setting == option) return fmt::format("--input-format {}", part);
  }
  if (row != nullptr && row->is_setting()) return fmt::format("--set {}", option);
  return fmt::format("--{}", option);
}

void remember_origins(const GivenValues& given) {
  places.clear();
  for (const auto& [name, value] : given) {
    if (!value.typed) places[name] = value.origin;
  }
}

void remember_places(std::map<std::string, std::string> told) {
  places.clear();
  for (auto& [name, place] : told) places[name] = std::move(place);
}

}  // namespace saccade
