#include "gpu/cuda/mipmap.h"

#include <fmt/format.h>

#include <utility>

#include "gpu/cuda/buffer.h"
#include "gpu/cuda/device.h"
#include "gpu/cuda/error.h"
#include "gpu/cuda/stream.h"
#include "gpu/memory_use.h"

namespace saccade {
namespace {

cudaChannelFormatDesc channel_format(const CudaMipmapShape& shape) {
  const int bits = 8 * shape.bytes_per_channel;
  const bool four = shape.channels == 4;
  return cudaCreateChannelDesc(bits, shape.channels >= 2 ? bits : 0, four ? bits : 0, four ? bits : 0,
                               cudaChannelFormatKindUnsigned);
}

// As many as its texels have, without what the driver adds.
std::int64_t bytes_of(const CudaMipmapShape& shape) {
  std::int64_t bytes = 0;
  for (int l = 0; l < shape.levels; ++l) {
    bytes += std::int64_t{shape.width >> l} * (shape.height >> l) * shape.texel_bytes();
  }
  return bytes;
}

}  // namespace

CudaMipmap::CudaMipmap(int device, const CudaMipmapShape& shape) : device_(device), shape_(shape) {
  const CudaDeviceGuard guard(device_);
  const cudaChannelFormatDesc format = channel_format(shape);
  const cudaExtent extent{static_cast<std::size_t>(shape.width), static_cast<std::size_t>(shape.height), 0};
  const cudaError_t code = cudaMallocMipmappedArray(&array_, &format, extent, static_cast<unsigned>(shape.levels),
                                                    cudaArraySurfaceLoadStore);
  if (code != cudaSuccess) {
    cuda_check(code, fmt::format("cudaMallocMipmappedArray of {}x{} texels of {} bytes in {} levels", shape.width,
                                 shape.height, shape.texel_bytes(), shape.levels));
  }
  memory_use().device_bytes += bytes_of(shape_);
  try {
    create_objects();
    fill_with_zeros();
  } catch (...) {
    release();
    throw;
  }
}

CudaMipmap CudaMipmap::of(int device, cudaMipmappedArray_t array, const CudaMipmapShape& shape) {
  const CudaDeviceGuard guard(device);
  CudaMipmap view;
  view.device_ = device;
  view.shape_ = shape;
  view.array_ = array;
  view.owned_ = false;
  view.create_objects();  // what was made is released by ~CudaMipmap when this throws
  return view;
}

void CudaMipmap::create_objects() {
  surfaces_.reserve(static_cast<std::size_t>(shape_.levels));
  for (int l = 0; l < shape_.levels; ++l) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = level(l);
    cudaSurfaceObject_t surface = 0;
    cuda_check(cudaCreateSurfaceObject(&surface, &resource), "cudaCreateSurfaceObject");
    surfaces_.push_back(surface);
  }
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = array_;
  cudaTextureDesc texture{};
  texture.addressMode[0] = texture.addressMode[1] = texture.addressMode[2] = cudaAddressModeClamp;
  texture.filterMode = cudaFilterModeLinear;
  texture.mipmapFilterMode = cudaFilterModeLinear;
  texture.readMode = cudaReadModeNormalizedFloat;
  texture.normalizedCoords = 1;
  texture.minMipmapLevelClamp = 0;
  texture.maxMipmapLevelClamp = static_cast<float>(shape_.levels - 1);
  cuda_check(cudaCreateTextureObject(&texture_, &resource, &texture, nullptr), "cudaCreateTextureObject");
}

void CudaMipmap::fill_with_zeros() const {
  const std::size_t row_bytes = static_cast<std::size_t>(shape_.width) * static_cast<std::size_t>(shape_.texel_bytes());
  const CudaBuffer zeros(device_, row_bytes * static_cast<std::size_t>(shape_.height));
  const CudaStream stream(device_);
  cuda_check(cudaMemsetAsync(zeros.data(), 0, zeros.size_bytes(), stream.get()), "cudaMemsetAsync");
  for (int l = 0; l < shape_.levels; ++l) {
    cuda_check(
        cudaMemcpy2DToArrayAsync(level(l), 0, 0, zeros.data(), row_bytes, row_bytes >> l,
                                 static_cast<std::size_t>(shape_.height >> l), cudaMemcpyDeviceToDevice, stream.get()),
        "cudaMemcpy2DToArrayAsync");
  }
  stream.wait();
}

void CudaMipmap::release() noexcept {
  if (array_ == nullptr) return;
  const CudaDeviceGuard guard(device_, std::nothrow);
  if (texture_ != 0) static_cast<void>(cudaDestroyTextureObject(std::exchange(texture_, 0)));
  for (const cudaSurfaceObject_t surface : surfaces_) static_cast<void>(cudaDestroySurfaceObject(surface));
  surfaces_.clear();
  cudaMipmappedArray_t array = std::exchange(array_, nullptr);
  if (array == nullptr || !owned_) return;
  static_cast<void>(cudaFreeMipmappedArray(array));
  memory_use().device_bytes -= bytes_of(shape_);
}

CudaMipmap::~CudaMipmap() { release(); }

CudaMipmap::CudaMipmap(CudaMipmap&& other) noexcept
    : device_(other.device_),
      shape_(other.shape_),
      array_(std::exchange(other.array_, nullptr)),
      owned_(other.owned_),
      surfaces_(std::exchange(other.surfaces_, {})),
      texture_(std::exchange(other.texture_, 0)) {}

CudaMipmap& CudaMipmap::operator=(CudaMipmap&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(shape_, other.shape_);
  std::swap(array_, other.array_);
  std::swap(owned_, other.owned_);
  std::swap(surfaces_, other.surfaces_);
  std::swap(texture_, other.texture_);
  return *this;
}

cudaArray_t CudaMipmap::level(int level) const {
  cudaArray_t array = nullptr;
  cuda_check(cudaGetMipmappedArrayLevel(&array, array_, static_cast<unsigned>(level)), "cudaGetMipmappedArrayLevel");
  return array;
}

}  // namespace saccade
