#include "gpu/interop/gl_textures.h"

#include <cuda_gl_interop.h>
#include <fmt/format.h>

#include "gpu/cuda/device.h"
#include "gpu/cuda/error.h"

namespace saccade {

int cuda_device_of_current_gl() {
  unsigned count = 0;
  int device = -1;
  const cudaError_t code = cudaGLGetDevices(&count, &device, 1, cudaGLDeviceListAll);
  if (code == cudaSuccess && count > 0) return device;
  static_cast<void>(cudaGetLastError());  // "no device" is an answer here
  return -1;
}

CudaGlTextures::CudaGlTextures(int device, std::span<const Image> images) : device_(device), images_(images.size()) {
  const CudaDeviceGuard guard(device_);
  try {
    for (const Image& image : images) {
      cudaGraphicsResource_t resource = nullptr;
      const cudaError_t code = cudaGraphicsGLRegisterImage(&resource, image.texture, GL_TEXTURE_2D,
                                                           cudaGraphicsRegisterFlagsSurfaceLoadStore);
      if (code != cudaSuccess) {
        cuda_check(code, fmt::format("cudaGraphicsGLRegisterImage of a texture of {}x{} texels of {} bytes",
                                     image.shape.width, image.shape.height, image.shape.texel_bytes()));
      }
      resources_.push_back(resource);
      shapes_.push_back(image.shape);
    }
  } catch (...) {
    release();
    throw;
  }
}

void CudaGlTextures::map(cudaStream_t stream) {
  const CudaDeviceGuard guard(device_);
  cuda_check(cudaGraphicsMapResources(static_cast<int>(resources_.size()), resources_.data(), stream),
             "cudaGraphicsMapResources");
  stream_ = stream;
  mapped_ = true;
  try {
    for (std::size_t i = 0; i < resources_.size(); ++i) {
      cudaMipmappedArray_t array = nullptr;
      cuda_check(cudaGraphicsResourceGetMappedMipmappedArray(&array, resources_[i]),
                 "cudaGraphicsResourceGetMappedMipmappedArray");
      if (images_[i].array() != array) images_[i] = CudaMipmap::of(device_, array, shapes_[i]);
    }
  } catch (...) {
    static_cast<void>(try_unmap());
    throw;
  }
}

cudaError_t CudaGlTextures::try_unmap() noexcept {
  const CudaDeviceGuard guard(device_, std::nothrow);
  mapped_ = false;
  return cudaGraphicsUnmapResources(static_cast<int>(resources_.size()), resources_.data(), stream_);
}

void CudaGlTextures::unmap() { cuda_check(try_unmap(), "cudaGraphicsUnmapResources"); }

// The views first: their surfaces refer to arrays that unregistering takes away.
void CudaGlTextures::release() noexcept {
  const CudaDeviceGuard guard(device_, std::nothrow);
  if (mapped_) static_cast<void>(try_unmap());
  images_.clear();
  for (const cudaGraphicsResource_t resource : resources_) static_cast<void>(cudaGraphicsUnregisterResource(resource));
  resources_.clear();
}

CudaGlTextures::~CudaGlTextures() { release(); }

}  // namespace saccade
