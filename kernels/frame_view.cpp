#include "kernels/frame_view.h"

namespace saccade {

const char* name(PixelLayout layout) {
  switch (layout) {
    case PixelLayout::kI420:
      return "i420";
    case PixelLayout::kNv12:
      return "nv12";
    case PixelLayout::kI420p16:
      return "i420p16";
    case PixelLayout::kP016:
      return "p016";
    case PixelLayout::kRgba8:
      return "rgba8";
  }
  return "?";
}

const char* name(TextureFormat format) {
  switch (format) {
    case TextureFormat::kYuv8:
      return "yuv8";
    case TextureFormat::kYuv16:
      return "yuv16";
    case TextureFormat::kRgba8:
      return "rgba8";
  }
  return "?";
}

}  // namespace saccade
