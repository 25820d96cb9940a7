// What all failures of a GPU's calls have in common.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace saccade {

// What a caller can change about its use of the device. Advice to a person (update the driver) is in the message.
enum class DeviceRemedy : std::uint8_t {
  kNone,
  kLessMemory,      // other programs, or what was asked for, fill the device's memory
  kSmallerTexture,  // more texels a side than this device allows
  kUseCpu,          // the device can't be used, or has failed
  kAvoidGl,         // OpenGL can't be used; CUDA alone may do
};

// A call of CUDA or OpenGL failed: no memory left, no such feature, a device that is gone. The message names the call.
class DeviceError : public std::runtime_error {
 public:
  explicit DeviceError(const std::string& what, DeviceRemedy remedy = DeviceRemedy::kNone)
      : std::runtime_error(what), remedy_(remedy) {}
  DeviceRemedy remedy() const { return remedy_; }

 private:
  DeviceRemedy remedy_;
};

}  // namespace saccade
