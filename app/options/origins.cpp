#include "app/options/origins.h"

#include <fmt/format.h>

#include <map>

namespace saccade {
namespace {

// A process has one command line, and errors come from anywhere.
std::map<std::string, std::string, std::less<>> places_in_files;

}  // namespace

std::string origin_of(std::string_view option) {
  const auto found = places_in_files.find(option);
  if (found != places_in_files.end()) return found->second;
  const ProgramOption* row = find_option(option);
  if (row != nullptr && !row->place().short_name.empty()) return fmt::format("-{}", row->place().short_name);
  return fmt::format("--{}", option);
}

void remember_origins(const GivenValues& given) {
  places_in_files.clear();
  for (const auto& [name, value] : given) {
    if (!value.typed) places_in_files[name] = value.origin;
  }
}

}  // namespace saccade
