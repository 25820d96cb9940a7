// Sampling of tensors by a GPU's texture unit: arguments checked, then the texture of the device.
#include <memory>

#include "capi/call.h"
#include "capi/error.h"
#include "capi/tensor/tensor_call.h"
#if defined(SACCADE_TENSOR_CUDA)
#include "kernels/tensor/hardware_texture.h"
#endif

#if defined(SACCADE_TENSOR_CUDA)
struct saccade_hardware_texture {
  const saccade::capi::HandleMark mark{saccade::capi::handle_counts().hardware_textures};
  std::unique_ptr<saccade::tensor::cuda::HardwareTexture> texture;
};
#else
struct saccade_hardware_texture {};
#endif

namespace saccade::capi {
namespace {

constexpr const char* kNoCuda = ": this build has no CUDA";

#if defined(SACCADE_TENSOR_CUDA)
tensor::ReduceArgs dense_levels(const char* function, const saccade_array* levels, std::int32_t count) {
  require_levels(function, levels, count);
  tensor::ReduceArgs args;
  args.levels = count;
  for (std::int32_t level = 0; level < count; ++level) {
    const tensor::ArrayView view = view_of(function, levels[level]);
    args.level[level] = view;
    const tensor::ArrayView& base = args.level[0];
    require(view.dtype == base.dtype && view.batch == base.batch && view.channels == base.channels, function,
            "levels differ in their dtype, batch or channels");
    require(view.batch > 0 && view.channels > 0 && view.width > 0 && view.height > 0, function,
            "a level has no texels");
    require(
        (view.width == 1 || view.stride_x == 1) && (view.height == 1 || view.stride_y == view.width) &&
            (view.channels == 1 || view.stride_c == static_cast<std::int64_t>(view.width) * view.height) &&
            (view.batch == 1 || view.stride_b == static_cast<std::int64_t>(view.width) * view.height * view.channels),
        function, "a level has gaps");
  }
  return args;
}

// Throws where the handle is none, is of the parent process, or the levels are others than it was made for.
tensor::cuda::HardwareTexture& checked(const char* function, saccade_hardware_texture* texture,
                                       const tensor::ReduceArgs& levels) {
  require(texture != nullptr, function, "texture is NULL");
  texture->mark.check(function);
  require(texture->texture->fits(levels), function, "the texture was made for levels of other sizes");
  return *texture->texture;
}
#endif

saccade_place device_of(const char* function, const saccade_place* place) {
  const saccade_place at = place_of(function, place);
  require(at.cuda != 0, function, "the texture unit is a GPU's; place is the host");
  return at;
}

}  // namespace
}  // namespace saccade::capi

using namespace saccade;        // NOLINT: the C interface's own file
using namespace saccade::capi;  // NOLINT

extern "C" {

saccade_status saccade_hardware_texture_new(const saccade_place* place, [[maybe_unused]] const saccade_array* levels,
                                            [[maybe_unused]] int32_t count, saccade_hardware_texture** out) {
  return guarded([&]() -> saccade_status {
    const char* function = "saccade_hardware_texture_new";
    require(out != nullptr, function, "out is NULL");
    *out = nullptr;
    [[maybe_unused]] const saccade_place at = device_of(function, place);
#if defined(SACCADE_TENSOR_CUDA)
    const tensor::ReduceArgs args = dense_levels(function, levels, count);
    const CudaDeviceGuard guard(at.device);
    const std::string refusal = tensor::cuda::HardwareTexture::refusal(args);
    if (!refusal.empty()) throw UnavailableError(std::string(function) + ": " + refusal);
    auto made = std::make_unique<saccade_hardware_texture>();
    made->texture = std::make_unique<tensor::cuda::HardwareTexture>(at.device, args, at.cuda_stream);
    *out = made.release();
    return SACCADE_OK;
#else
    throw UnavailableError(std::string(function) + kNoCuda);
#endif
  });
}

void saccade_hardware_texture_free(saccade_hardware_texture* texture) {
#if defined(SACCADE_TENSOR_CUDA)
  // In a child of fork() the device's memory is not ours to free.
  if (texture != nullptr && !texture->mark.usable()) static_cast<void>(texture->texture.release());
#endif
  delete texture;
}

saccade_status saccade_hardware_texture_fill([[maybe_unused]] saccade_hardware_texture* texture,
                                             const saccade_place* place, [[maybe_unused]] const saccade_array* levels,
                                             [[maybe_unused]] int32_t count) {
  return guarded([&]() -> saccade_status {
    const char* function = "saccade_hardware_texture_fill";
    [[maybe_unused]] const saccade_place at = device_of(function, place);
#if defined(SACCADE_TENSOR_CUDA)
    const tensor::ReduceArgs args = dense_levels(function, levels, count);
    const CudaDeviceGuard guard(at.device);
    checked(function, texture, args).fill(args, at.cuda_stream);
    return SACCADE_OK;
#else
    throw UnavailableError(std::string(function) + kNoCuda);
#endif
  });
}

saccade_status saccade_hardware_texture_sample([[maybe_unused]] saccade_hardware_texture* texture,
                                               const saccade_place* place, [[maybe_unused]] const saccade_array* levels,
                                               [[maybe_unused]] int32_t count,
                                               [[maybe_unused]] const saccade_array* centers,
                                               [[maybe_unused]] const saccade_array* lod,
                                               [[maybe_unused]] const saccade_array* direction,
                                               [[maybe_unused]] const saccade_sample_options* options,
                                               [[maybe_unused]] const saccade_array* patches) {
  return guarded([&]() -> saccade_status {
    const char* function = "saccade_hardware_texture_sample";
    [[maybe_unused]] const saccade_place at = device_of(function, place);
#if defined(SACCADE_TENSOR_CUDA)
    const tensor::ReduceArgs sizes = dense_levels(function, levels, count);
    const tensor::SampleArgs args = sample_args(function, {levels, count, centers, lod, direction, options, patches});
    const CudaDeviceGuard guard(at.device);
    checked(function, texture, sizes).sample(args, at.cuda_stream);
    return SACCADE_OK;
#else
    throw UnavailableError(std::string(function) + kNoCuda);
#endif
  });
}

}  // extern "C"
