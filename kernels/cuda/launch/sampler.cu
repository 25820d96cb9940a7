// Trilinear samples of patches with the colour matrix applied to each: by explicit fetch and lerp, the same arithmetic
// as the plain CPU sampler, or by the texture unit.
#include <cuda_fp16.h>

#include "gpu/cuda/device.h"
#include "gpu/cuda/error.h"
#include "kernels/cuda/launch/frame_source.cuh"
#include "kernels/cuda/launch/launch.h"
#include "kernels/shared/fovea.h"
#include "kernels/shared/sampling.h"
#include "kernels/shared/taps.h"

namespace saccade::cuda {
namespace {

constexpr int kSampleThreads = 256;

template <class Plane>
__device__ __forceinline__ void fetch(unsigned long long surface, int x, int y, float* values) {
  std::uint32_t packed;
  if constexpr (Plane::kTexelBytes == 1) {
    packed = surf2Dread<unsigned char>(surface, x, y);
  } else if constexpr (Plane::kTexelBytes == 2) {
    packed = surf2Dread<unsigned short>(surface, x * 2, y);
  } else {
    packed = surf2Dread<unsigned>(surface, x * 4, y);
  }
#pragma unroll
  for (int c = 0; c < Plane::kChannels; ++c) values[c] = static_cast<float>(sample_of<Plane>(&packed, 0, c));
}

struct PlaneScale {
  float scale, shift_x, shift_y;
};

template <class Plane>
__device__ __forceinline__ void bilinear(const SampleParams& params, int plane, int level, float x_px, float y_px,
                                         PlaneScale scale, float* values) {
  const float unit = shared::level_scale(level);
  const auto x =
      shared::axis_tap(shared::texel_coordinate(x_px, scale.scale, scale.shift_x, unit), params.width[plane] >> level);
  const auto y =
      shared::axis_tap(shared::texel_coordinate(y_px, scale.scale, scale.shift_y, unit), params.height[plane] >> level);
  const unsigned long long surface = params.plane[plane].level[level];
  float texels[4][Plane::kChannels];
  fetch<Plane>(surface, x.first, y.first, texels[0]);
  fetch<Plane>(surface, x.second, y.first, texels[1]);
  fetch<Plane>(surface, x.first, y.second, texels[2]);
  fetch<Plane>(surface, x.second, y.second, texels[3]);
#pragma unroll
  for (int c = 0; c < Plane::kChannels; ++c) {
    values[c] = shared::lerp(shared::lerp(texels[0][c], texels[1][c], x.weight),
                             shared::lerp(texels[2][c], texels[3][c], x.weight), y.weight);
  }
}

template <class Plane>
__device__ __forceinline__ void trilinear(const SampleParams& params, int plane, float lod, float x_px, float y_px,
                                          PlaneScale scale, float* values) {
  const shared::LevelMix<float> mix = shared::level_mix(lod, params.plane[plane].levels);
  bilinear<Plane>(params, plane, mix.first, x_px, y_px, scale, values);
  if (mix.fraction == 0.0f) return;
  float coarse[Plane::kChannels];
  bilinear<Plane>(params, plane, mix.second, x_px, y_px, scale, coarse);
#pragma unroll
  for (int c = 0; c < Plane::kChannels; ++c) values[c] = shared::lerp(values[c], coarse[c], mix.fraction);
}

template <TextureFormat F>
__device__ __forceinline__ shared::Rgb sample_exact(const SampleParams& params, float lod, float x_px, float y_px) {
  using Format = FormatTraits<F>;
  if constexpr (Format::kHasChroma) {
    float luma[1];
    float chroma[2];
    trilinear<typename Format::Luma>(params, 0, lod, x_px, y_px, {1.0f, 0.0f, 0.0f}, luma);
    trilinear<typename Format::Chroma>(params, 1, shared::chroma_lod(lod), x_px, y_px,
                                       {0.5f, params.site_shift_x, params.site_shift_y}, chroma);
    return shared::ycbcr_to_rgb(luma[0], chroma[0], chroma[1], params.color);
  } else {
    float rgba[4];
    trilinear<typename Format::Luma>(params, 0, lod, x_px, y_px, {1.0f, 0.0f, 0.0f}, rgba);
    return {rgba[0] / 255.0f, rgba[1] / 255.0f, rgba[2] / 255.0f};
  }
}

template <TextureFormat F>
__device__ __forceinline__ shared::Rgb sample_hardware(const SampleParams& params, float lod, float x_px, float y_px) {
  const float u = x_px * params.inverse_width[0];
  const float v = y_px * params.inverse_height[0];
  if constexpr (FormatTraits<F>::kHasChroma) {
    const float cu = (x_px * 0.5f + params.site_shift_x) * params.inverse_width[1];
    const float cv = (y_px * 0.5f + params.site_shift_y) * params.inverse_height[1];
    const float luma = tex2DLod<float>(params.texture[0], u, v, lod);
    const float2 chroma = tex2DLod<float2>(params.texture[1], cu, cv, shared::chroma_lod(lod));
    return shared::ycbcr_to_rgb(luma, chroma.x, chroma.y, params.color);
  } else {
    const float4 rgba = tex2DLod<float4>(params.texture[0], u, v, lod);
    return {rgba.x, rgba.y, rgba.z};
  }
}

__device__ __forceinline__ void store(const SampleParams& params, float value, int channel, std::size_t index) {
  if (params.type == SampleType::kU8) {
    static_cast<std::uint8_t*>(params.out)[index] =
        static_cast<std::uint8_t>(static_cast<int>(shared::min(value * 255.0f + 0.5f, 255.0f)));
    return;
  }
  const float normalised = (value - params.mean[channel]) * params.inv_std[channel];
  if (params.type == SampleType::kF16) {
    static_cast<__half*>(params.out)[index] = __float2half_rn(normalised);
  } else {
    static_cast<float*>(params.out)[index] = normalised;
  }
}

// A block per patch.
template <TextureFormat F, bool kHardware>
__global__ void __launch_bounds__(kSampleThreads) sample_kernel(const __grid_constant__ SampleParams params) {
  const float4 record = __ldg(reinterpret_cast<const float4*>(params.patches) + blockIdx.x);
  const PatchRecord patch{record.x, record.y, record.z, record.w};
  const int area = params.size * params.size;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();  // the launch before this one has written the texture
#endif
  const std::size_t first = static_cast<std::size_t>(blockIdx.x) * 3 * static_cast<std::size_t>(area);
  for (int i = static_cast<int>(threadIdx.x); i < area; i += kSampleThreads) {
    const float x_px = shared::sample_position_px(patch.x_px, i % params.size, params.size, patch.pitch_px);
    const float y_px = shared::sample_position_px(patch.y_px, i / params.size, params.size, patch.pitch_px);
    shared::Rgb rgb{0.0f, 0.0f, 0.0f};
    if (patch.pitch_px > 0.0f) {
      rgb = kHardware ? sample_hardware<F>(params, patch.lod, x_px, y_px)
                      : sample_exact<F>(params, patch.lod, x_px, y_px);
    }
    const std::size_t at = first + static_cast<std::size_t>(i);
    store(params, rgb.r, 0, at);
    store(params, rgb.g, 1, at + static_cast<std::size_t>(area));
    store(params, rgb.b, 2, at + 2 * static_cast<std::size_t>(area));
  }
}

template <TextureFormat F>
void launch(const SampleParams& params, cudaStream_t stream) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(params.count));
  config.blockDim = dim3(kSampleThreads);
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = params.early_launch ? 1 : 0;
  cuda_check(cudaLaunchKernelEx(&config, params.hardware ? sample_kernel<F, true> : sample_kernel<F, false>, params),
             "sample_kernel");
  cuda_check_launch("sample_kernel", stream);
}

}  // namespace

bool sampler_can_wait(int device) {
  const CudaDeviceGuard guard(device);
  cudaFuncAttributes attributes{};
  cuda_check(cudaFuncGetAttributes(&attributes, sample_kernel<TextureFormat::kYuv8, false>),
             "cudaFuncGetAttributes: code for this device");
  return attributes.ptxVersion >= 90;
}

void launch_sample(TextureFormat format, const SampleParams& params, cudaStream_t stream) {
  if (params.count == 0) return;
  switch (format) {
    case TextureFormat::kYuv8:
      return launch<TextureFormat::kYuv8>(params, stream);
    case TextureFormat::kYuv16:
      return launch<TextureFormat::kYuv16>(params, stream);
    case TextureFormat::kRgba8:
      return launch<TextureFormat::kRgba8>(params, stream);
  }
}

}  // namespace saccade::cuda
