#include "kernels/texture.h"

namespace saccade {

const char* name(DeviceTime::Work work) {
  switch (work) {
    case DeviceTime::Work::kDiff:
      return "diff";
    case DeviceTime::Work::kUpload:
      return "upload";
    case DeviceTime::Work::kMips:
      return "mips";
    case DeviceTime::Work::kUpdate:
      return "update";
    case DeviceTime::Work::kSample:
      return "sample";
  }
  return "?";
}

}  // namespace saccade
