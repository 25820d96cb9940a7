#include "app/info/info_devices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

#include "app/json/json_file.h"

namespace saccade {

std::string devices_text(const std::vector<Camera>& cameras) {
  if (cameras.empty()) return "no cameras: there is no /dev/videoN that captures\n";
  std::string text;
  const auto out = std::back_inserter(text);
  for (const Camera& camera : cameras) {
    if (!camera.fault.empty()) {
      fmt::format_to(out, "{}: can't be opened: {}\n", camera.path, camera.fault);
      continue;
    }
    fmt::format_to(out, "{}: {} ({}, {})\n", camera.path, camera.name, camera.driver, camera.bus);
    for (const CameraMode& mode : camera.modes) {
      fmt::format_to(out, "  --input-format {}:video_size={}:framerate=FPS, FPS: {}\n", mode.format, mode.size,
                     mode.rates.empty() ? "any" : fmt::format("{}", fmt::join(mode.rates, ", ")));
    }
  }
  return text;
}

std::string devices_json(const std::vector<Camera>& cameras) {
  Json list = Json::array();
  for (const Camera& camera : cameras) {
    Json modes = Json::array();
    for (const CameraMode& mode : camera.modes) {
      modes.push_back(
          {{"format", mode.format}, {"description", mode.description}, {"size", mode.size}, {"rates", mode.rates}});
    }
    list.push_back({{"path", camera.path},
                    {"name", camera.name},
                    {"driver", camera.driver},
                    {"bus", camera.bus},
                    {"fault", camera.fault},
                    {"modes", modes}});
  }
  return json_text(list, 2) + "\n";
}

}  // namespace saccade
