// What all failures of a GPU's calls have in common.
#pragma once

#include <stdexcept>

namespace saccade {

// A call of CUDA or OpenGL failed: no memory left, no such feature, a device that is gone. The message names the call.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace saccade
