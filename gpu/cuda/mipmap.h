// A mipmapped 2D array on a device with everything needed to write and to sample it.
#pragma once

#include <cuda_runtime_api.h>

#include <vector>

namespace saccade {

struct CudaMipmapShape {
  int channels = 1;           // 1, 2 or 4
  int bytes_per_channel = 1;  // 1 or 2
  int width = 0;              // texels of level 0; level l is (width >> l) x (height >> l)
  int height = 0;
  int levels = 1;
  int texel_bytes() const { return channels * bytes_per_channel; }
};

// Owns the array, one surface object per level (reads and writes, x in bytes) and one texture object (normalised
// coordinates, clamp, linear in texels and between levels, normalised float). Move-only. Its texels start as zeros.
class CudaMipmap {
 public:
  CudaMipmap() = default;
  CudaMipmap(int device, const CudaMipmapShape& shape);
  // Objects of an array that somebody else owns and keeps (a mapped GL texture); its texels are left as they are.
  static CudaMipmap of(int device, cudaMipmappedArray_t array, const CudaMipmapShape& shape);
  ~CudaMipmap();
  CudaMipmap(CudaMipmap&& other) noexcept;
  CudaMipmap& operator=(CudaMipmap&& other) noexcept;
  CudaMipmap(const CudaMipmap&) = delete;
  CudaMipmap& operator=(const CudaMipmap&) = delete;

  const CudaMipmapShape& shape() const { return shape_; }
  cudaMipmappedArray_t array() const { return array_; }  // borrowed
  cudaSurfaceObject_t surface(int level) const { return surfaces_[static_cast<std::size_t>(level)]; }
  cudaTextureObject_t texture() const { return texture_; }
  cudaArray_t level(int level) const;  // borrowed

 private:
  void create_objects();
  void fill_with_zeros() const;
  void release() noexcept;

  int device_ = 0;
  CudaMipmapShape shape_;
  cudaMipmappedArray_t array_ = nullptr;
  bool owned_ = true;
  std::vector<cudaSurfaceObject_t> surfaces_;
  cudaTextureObject_t texture_ = 0;
};

}  // namespace saccade
