// The cameras of this machine, by Video4Linux.
#pragma once

#include <string>
#include <vector>

namespace saccade {

struct CameraMode {
  std::string format;              // as input-format takes it ("mjpeg", "yuyv422"), or the driver's four letters
  std::string description;         // the driver's: "Motion-JPEG"
  std::string size;                // as input-size takes it; "WxH to WxH" for a driver that scales
  std::vector<std::string> rates;  // frames a second, as input-rate takes them; empty: the driver doesn't say
};

struct Camera {
  std::string path;  // "/dev/video0"
  std::string name, driver, bus;
  std::string fault;  // why its modes aren't known: no permission, in use ...; empty otherwise
  std::vector<CameraMode> modes;
};

// Every /dev/videoN that captures, in the order of N. Opens each for a moment; starts none.
std::vector<Camera> list_cameras();

}  // namespace saccade
