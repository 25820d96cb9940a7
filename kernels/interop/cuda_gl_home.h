// A texture that CUDA writes and GL draws from, and whose turn it is.
#pragma once

#include "kernels/cuda/texture_home.h"

namespace saccade::cuda {

// CUDA's from open() on, until give_to_gl() before each use by GL. The context must be current in every call.
class GlHome : public TextureHome {
 public:
  virtual void give_to_gl() = 0;
};

}  // namespace saccade::cuda
