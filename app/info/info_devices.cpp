#include "app/info/info_devices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

#include "app/json/json_file.h"

namespace saccade {

std::string devices_text(const std::vector<Camera>& cameras, const std::vector<ScreenPart>& screen) {
  std::string text;
  const auto out = std::back_inserter(text);
  if (cameras.empty()) fmt::format_to(out, "no cameras: there is no /dev/videoN that captures\n");
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
  if (screen.empty()) fmt::format_to(out, "no screen: neither $DISPLAY nor $WAYLAND_DISPLAY is set\n");
  for (const ScreenPart& part : screen) {
    if (part.fault.empty() && part.width_px == 0) {
      fmt::format_to(out, "{}: {}\n", part.uri, part.title);
    } else if (part.fault.empty()) {
      fmt::format_to(out, "{}: {}, {}x{}\n", part.uri, part.title, part.width_px, part.height_px);
    } else {
      fmt::format_to(out, "{}\n", part.fault);
    }
  }
  return text;
}

std::string devices_json(const std::vector<Camera>& cameras, const std::vector<ScreenPart>& screen) {
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
  for (const ScreenPart& part : screen) {
    Json modes = Json::array();
    if (part.fault.empty() && part.width_px > 0) {
      modes.push_back({{"format", "bgr0"},
                       {"description", ""},
                       {"size", fmt::format("{}x{}", part.width_px, part.height_px)},
                       {"rates", Json::array()}});
    }
    list.push_back({{"path", part.uri},
                    {"name", part.title},
                    {"driver", part.driver},
                    {"bus", ""},
                    {"fault", part.fault},
                    {"modes", modes}});
  }
  return json_text(list, 2) + "\n";
}

}  // namespace saccade
