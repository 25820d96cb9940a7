#include "pipeline/source/live/cameras.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/videodev2.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

namespace saccade {
namespace {

constexpr int kMostDevices = 64;
constexpr std::uint32_t kMostEntries = 256;  // of one list of a driver's

class Device {
 public:
  explicit Device(const std::string& path) : fd_(open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC)) {}
  ~Device() {
    if (fd_ >= 0) close(fd_);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  bool is_open() const { return fd_ >= 0; }

  template <typename T>
  bool ask(unsigned long request, T& about) const {
    int result = 0;
    do {
      result = ioctl(fd_, request, &about);
    } while (result < 0 && errno == EINTR);
    return result == 0;
  }

 private:
  int fd_;
};

template <std::size_t kSize>
std::string text_of(const __u8 (&bytes)[kSize]) {
  const char* begin = reinterpret_cast<const char*>(bytes);
  return {begin, strnlen(begin, kSize)};
}

std::string format_name(std::uint32_t pixel_format) {
  switch (pixel_format) {
    case V4L2_PIX_FMT_MJPEG:
    case V4L2_PIX_FMT_JPEG:
      return "mjpeg";
    case V4L2_PIX_FMT_H264:
      return "h264";
    case V4L2_PIX_FMT_YUYV:
      return "yuyv422";
    case V4L2_PIX_FMT_UYVY:
      return "uyvy422";
    case V4L2_PIX_FMT_YUV420:
      return "yuv420p";
    case V4L2_PIX_FMT_NV12:
      return "nv12";
    case V4L2_PIX_FMT_RGB24:
      return "rgb24";
    case V4L2_PIX_FMT_BGR24:
      return "bgr24";
    case V4L2_PIX_FMT_GREY:
      return "gray";
    default:
      break;
  }
  std::string letters;
  for (int i = 0; i < 4; ++i) letters += static_cast<char>(pixel_format >> (8 * i) & 0x7f);
  return letters;
}

std::vector<std::string> rates(const Device& device, std::uint32_t format, std::uint32_t width, std::uint32_t height) {
  std::vector<std::string> found;
  v4l2_frmivalenum interval{};
  interval.pixel_format = format;
  interval.width = width;
  interval.height = height;
  for (; interval.index < kMostEntries && device.ask(VIDIOC_ENUM_FRAMEINTERVALS, interval); ++interval.index) {
    if (interval.type != V4L2_FRMIVAL_TYPE_DISCRETE) break;
    const v4l2_fract& period = interval.discrete;
    if (period.numerator == 0) continue;
    found.push_back(period.denominator % period.numerator == 0
                        ? fmt::format("{}", period.denominator / period.numerator)
                        : fmt::format("{}/{}", period.denominator, period.numerator));
  }
  return found;
}

void list_modes(const Device& device, const v4l2_fmtdesc& format, std::vector<CameraMode>& modes) {
  v4l2_frmsizeenum size{};
  size.pixel_format = format.pixelformat;
  const std::string name = format_name(format.pixelformat), description = text_of(format.description);
  for (; size.index < kMostEntries && device.ask(VIDIOC_ENUM_FRAMESIZES, size); ++size.index) {
    if (size.type != V4L2_FRMSIZE_TYPE_DISCRETE) {
      const v4l2_frmsize_stepwise& steps = size.stepwise;
      modes.push_back(
          {name,
           description,
           fmt::format("{}x{} to {}x{}", steps.min_width, steps.min_height, steps.max_width, steps.max_height),
           {}});
      return;
    }
    modes.push_back({name, description, fmt::format("{}x{}", size.discrete.width, size.discrete.height),
                     rates(device, format.pixelformat, size.discrete.width, size.discrete.height)});
  }
}

std::optional<Camera> look_at(const std::string& path) {
  Camera camera;
  camera.path = path;
  const Device device(path);
  if (!device.is_open()) {
    if (errno == ENOENT || errno == ENODEV || errno == ENXIO) return std::nullopt;
    camera.fault = std::strerror(errno);
    return camera;
  }
  v4l2_capability capability{};
  if (!device.ask(VIDIOC_QUERYCAP, capability)) return std::nullopt;
  const std::uint32_t can =
      (capability.capabilities & V4L2_CAP_DEVICE_CAPS) != 0 ? capability.device_caps : capability.capabilities;
  if ((can & V4L2_CAP_VIDEO_CAPTURE) == 0) return std::nullopt;  // of a camera's metadata, an encoder's end ...
  camera.name = text_of(capability.card);
  camera.driver = text_of(capability.driver);
  camera.bus = text_of(capability.bus_info);
  v4l2_fmtdesc format{};
  format.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  for (; format.index < kMostEntries && device.ask(VIDIOC_ENUM_FMT, format); ++format.index) {
    list_modes(device, format, camera.modes);
  }
  return camera;
}

}  // namespace

std::vector<Camera> list_cameras() {
  std::vector<Camera> cameras;
  for (int number = 0; number < kMostDevices; ++number) {
    if (std::optional<Camera> camera = look_at(fmt::format("/dev/video{}", number))) {
      cameras.push_back(std::move(*camera));
    }
  }
  return cameras;
}

}  // namespace saccade
