// Where the arrays of a CUDA texture lie: its own, or GL's (kernels/interop/storage.h).
#pragma once

#include <array>

#include "gpu/cuda/mipmap.h"
#include "kernels/pyramid_layout.h"

namespace saccade::cuda {

inline CudaMipmapShape mipmap_shape(const PlaneLayout& plane) {
  return {plane.channels, plane.bytes_per_channel, plane.width, plane.height, plane.levels};
}

// open() before each call's work is queued in `stream`, the texture's own; plane() only after it.
class TextureStorage {
 public:
  virtual ~TextureStorage() = default;
  virtual void open(cudaStream_t stream) = 0;
  virtual const CudaMipmap& plane(int index) const = 0;
};

// Needs the driver alone: no GL.
class OwnStorage final : public TextureStorage {
 public:
  OwnStorage(int device, const PyramidLayout& layout) {
    for (std::size_t p = 0; p < static_cast<std::size_t>(layout.plane_count); ++p)
      planes_[p] = CudaMipmap(device, mipmap_shape(layout.planes[p]));
  }
  void open(cudaStream_t) override {}
  const CudaMipmap& plane(int index) const override { return planes_[static_cast<std::size_t>(index)]; }

 private:
  std::array<CudaMipmap, 2> planes_;
};

}  // namespace saccade::cuda
