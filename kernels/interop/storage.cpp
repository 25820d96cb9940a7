#include "kernels/interop/storage.h"

#include "gpu/cuda/device.h"
#include "gpu/cuda/error.h"

namespace saccade::cuda {
namespace {

// Calls f(plane, level, offset of the level in the buffer, bytes of a row, rows); returns the size of the buffer.
template <typename F>
std::size_t for_each_level(std::span<const GlPlane> planes, F&& f) {
  std::size_t offset = 0;
  for (std::size_t p = 0; p < planes.size(); ++p) {
    const PlaneLayout& shape = planes[p].layout;
    for (int l = 0; l < shape.levels; ++l) {
      const std::size_t row_bytes =
          static_cast<std::size_t>(shape.width >> l) * static_cast<std::size_t>(shape.texel_bytes());
      const auto rows = static_cast<std::size_t>(shape.height >> l);
      f(static_cast<int>(p), l, offset, row_bytes, rows);
      offset += row_bytes * rows;
    }
  }
  return offset;
}

std::size_t bytes_of(std::span<const GlPlane> planes) {
  return for_each_level(planes, [](int, int, std::size_t, std::size_t, std::size_t) {});
}

std::vector<CudaGlTextures::Image> images(std::span<const GlPlane> planes) {
  std::vector<CudaGlTextures::Image> images;
  for (const GlPlane& plane : planes) images.push_back({plane.texture.name(), mipmap_shape(plane.layout)});
  return images;
}

}  // namespace

SharedStorage::SharedStorage(int device, std::span<const GlPlane> planes) : textures_(device, images(planes)) {}

void SharedStorage::open(cudaStream_t stream) {
  if (!textures_.mapped()) textures_.map(stream);
}

void SharedStorage::give_to_gl() {
  if (textures_.mapped()) textures_.unmap();
}

CopiedStorage::CopiedStorage(int device, const PyramidLayout& layout, std::span<const GlPlane> planes)
    : device_(device), own_(device, layout), planes_(planes), buffer_(device, bytes_of(planes)) {}

void CopiedStorage::open(cudaStream_t stream) {
  own_.open(stream);
  stream_ = stream;
  changed_ = true;
}

void CopiedStorage::give_to_gl() {
  if (!changed_) return;
  const CudaDeviceGuard guard(device_);
  CudaGlBuffer::Mapping mapping = buffer_.map(stream_);
  for_each_level(planes_, [&](int p, int l, std::size_t offset, std::size_t row_bytes, std::size_t rows) {
    cuda_check(cudaMemcpy2DFromArrayAsync(mapping.data() + offset, row_bytes, own_.plane(p).level(l), 0, 0, row_bytes,
                                          rows, cudaMemcpyDeviceToDevice, stream_),
               "cudaMemcpy2DFromArrayAsync");
  });
  mapping.unmap();

  gl::forget_errors();
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, buffer_.buffer());
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  for_each_level(planes_, [&](int p, int l, std::size_t offset, std::size_t, std::size_t rows) {
    const GlPlane& plane = planes_[static_cast<std::size_t>(p)];
    write_texels(plane, l, {0, 0, plane.layout.width >> l, static_cast<int>(rows)},
                 reinterpret_cast<const void*>(offset));
  });
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  gl::check("glTextureSubImage2D");
  changed_ = false;
}

}  // namespace saccade::cuda
