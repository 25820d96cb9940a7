#include "kernels/tensor/hardware_texture.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gpu/cuda/device.h"
#include "gpu/cuda/error.h"
#include "gpu/memory_use.h"
#include "kernels/tensor/sample_item.h"

namespace saccade::tensor::cuda {
namespace {

constexpr int kThreads = 256;
constexpr unsigned kMostShares = 64;  // of the channels, side by side

struct TextureArgs {
  SampleArgs sample;  // levels' sizes, without data
  cudaTextureObject_t level[kMostLevels];
  float unit;  // what a texel of 1 stands for
};

// A channel's value at a place: unnormalised coordinates of a level are its texels'. One texel outside reads the same
// as any distance further.
__device__ __forceinline__ float texel_at(const TextureArgs& args, int level, Vec2<float> place_px, int layer) {
  const LevelArray& size = args.sample.level[level];
  const float scale = level_scale<float>(level);
  const float x = clamp_to(place_px.x * scale, -1.0f, static_cast<float>(size.width + 1));
  const float y = clamp_to(place_px.y * scale, -1.0f, static_cast<float>(size.height + 1));
  return tex2DLayered<float>(args.level[level], x, y, layer);
}

// A thread takes a sample of a patch; blockIdx.y: a share of the channels.
__global__ void __launch_bounds__(kThreads) hardware_kernel(const __grid_constant__ TextureArgs texture) {
  const SampleArgs& args = texture.sample;
  const long long at = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  const int samples = args.size * args.size;
  const long long number = at / samples;
  if (number >= static_cast<long long>(args.batch) * args.count) return;
  const int s = static_cast<int>(at % samples);
  const int b = static_cast<int>(number / args.count);
  const int n = static_cast<int>(number % args.count);
  const PatchFrame<float> patch = patch_at<float>(args, b, n);
  const PatchArray& out = args.patches;
  for (int c = static_cast<int>(blockIdx.y); c < args.channels; c += static_cast<int>(gridDim.y)) {
    const int layer = b * args.channels + c;
    float sum = 0;
    for (int probe = 0; probe < patch.probes; ++probe) {
      const Vec2<float> offset = unit_offset(patch, s % args.size, s / args.size, probe, args.size);
      const Vec2<float> place = sample_place(patch, offset);
      float value = texel_at(texture, patch.first, place, layer);
      if (patch.fraction > 0) value = mix(value, texel_at(texture, patch.second, place, layer), patch.fraction);
      sum += value;
    }
    const float mean = patch.probes > 1 ? sum / static_cast<float>(patch.probes) : sum;
    store_as(mean * texture.unit * args.scale, out.data, out.dtype,
             b * out.stride_b + n * out.stride_n + c * out.stride_c + s / args.size * out.stride_y +
                 s % args.size * out.stride_x);
  }
}

cudaChannelFormatDesc format_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::kU8:
      return cudaCreateChannelDesc<unsigned char>();
    case Dtype::kU16:
      return cudaCreateChannelDesc<unsigned short>();
    case Dtype::kF16:
      return cudaCreateChannelDescHalf();
    default:
      return cudaCreateChannelDesc<float>();
  }
}

float unit_of(Dtype dtype) { return dtype == Dtype::kU8 ? 255.0f : dtype == Dtype::kU16 ? 65535.0f : 1.0f; }

cudaTextureObject_t make_texture(cudaArray_t array, Dtype dtype, cudaTextureAddressMode outside) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description{};
  description.addressMode[0] = description.addressMode[1] = outside;
  description.filterMode = cudaFilterModeLinear;
  description.readMode = is_floating(dtype) ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
  description.normalizedCoords = 0;
  cudaTextureObject_t texture = 0;
  cuda_check(cudaCreateTextureObject(&texture, &resource, &description, nullptr), "cudaCreateTextureObject");
  return texture;
}

bool is_captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cuda_check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

// What is queued while it lives comes after everything that was, on any stream.
class InOrder {
 public:
  InOrder(cudaEvent_t last, cudaStream_t stream) : last_(is_captured(stream) ? nullptr : last), stream_(stream) {
    if (last_ != nullptr) cuda_check(cudaStreamWaitEvent(stream_, last_, 0), "cudaStreamWaitEvent");
  }
  void end() const {
    if (last_ != nullptr) cuda_check(cudaEventRecord(last_, stream_), "cudaEventRecord");
  }

 private:
  cudaEvent_t last_;
  cudaStream_t stream_;
};

int attribute(cudaDeviceAttr which) {
  int device = 0;
  int value = 0;
  cuda_check(cudaGetDevice(&device), "cudaGetDevice");
  cuda_check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

}  // namespace

const char* HardwareTexture::refusal(const ReduceArgs& levels) {
  const ArrayView& base = levels.level[0];
  if (base.dtype == Dtype::kBf16 || base.dtype == Dtype::kF64) return "the texture unit takes u8, u16, f16 and f32";
  if (static_cast<long long>(base.batch) * base.channels > attribute(cudaDevAttrMaxTexture2DLayeredLayers)) {
    return "the device's textures don't have so many layers: batch times channels is too large";
  }
  if (base.width > attribute(cudaDevAttrMaxTexture2DLayeredWidth) ||
      base.height > attribute(cudaDevAttrMaxTexture2DLayeredHeight)) {
    return "the image is larger than the device's textures";
  }
  return "";
}

struct HardwareTexture::Arrays {
  struct Level {
    cudaArray_t array = nullptr;
    cudaTextureObject_t border = 0, zeros = 0;  // what lies outside
    int width = 0, height = 0;
  };

  Arrays(int of_device, const ReduceArgs& levels)
      : device(of_device),
        dtype(levels.level[0].dtype),
        planes(levels.level[0].batch * levels.level[0].channels),
        level(static_cast<std::size_t>(levels.levels)) {}
  ~Arrays();
  Arrays(const Arrays&) = delete;
  Arrays& operator=(const Arrays&) = delete;
  void allocate(const ReduceArgs& levels);
  std::int64_t bytes_of(const Level& made) const {
    return std::int64_t{made.width} * made.height * planes * static_cast<std::int64_t>(element_bytes(dtype));
  }

  int device;
  Dtype dtype;
  int planes;
  std::vector<Level> level;
  cudaEvent_t last = nullptr;  // what was queued last
};

void HardwareTexture::Arrays::allocate(const ReduceArgs& levels) {
  cuda_check(cudaEventCreateWithFlags(&last, cudaEventDisableTiming), "cudaEventCreate");
  const cudaChannelFormatDesc format = format_of(dtype);
  for (std::size_t k = 0; k < level.size(); ++k) {
    Level& made = level[k];
    made.width = levels.level[k].width;
    made.height = levels.level[k].height;
    const cudaExtent extent = make_cudaExtent(static_cast<std::size_t>(made.width),
                                              static_cast<std::size_t>(made.height), static_cast<std::size_t>(planes));
    cuda_check(cudaMalloc3DArray(&made.array, &format, extent, cudaArrayLayered), "cudaMalloc3DArray");
    memory_use().device_bytes += bytes_of(made);
    made.border = make_texture(made.array, dtype, cudaAddressModeClamp);
    made.zeros = make_texture(made.array, dtype, cudaAddressModeBorder);
  }
}

HardwareTexture::Arrays::~Arrays() {
  const CudaDeviceGuard guard(device, std::nothrow);
  if (last != nullptr) {
    static_cast<void>(cudaEventSynchronize(last));
    static_cast<void>(cudaEventDestroy(last));
  }
  for (const Level& made : level) {
    if (made.border != 0) static_cast<void>(cudaDestroyTextureObject(made.border));
    if (made.zeros != 0) static_cast<void>(cudaDestroyTextureObject(made.zeros));
    if (made.array == nullptr) continue;
    static_cast<void>(cudaFreeArray(made.array));
    memory_use().device_bytes -= bytes_of(made);
  }
}

HardwareTexture::HardwareTexture(int device, const ReduceArgs& levels, void* stream)
    : arrays_(std::make_unique<Arrays>(device, levels)) {
  arrays_->allocate(levels);
  fill(levels, stream);
}

HardwareTexture::~HardwareTexture() = default;

bool HardwareTexture::fits(const ReduceArgs& levels) const {
  const ArrayView& base = levels.level[0];
  if (levels.levels != static_cast<int>(arrays_->level.size()) || base.dtype != arrays_->dtype ||
      base.batch * base.channels != arrays_->planes) {
    return false;
  }
  for (std::size_t k = 0; k < arrays_->level.size(); ++k) {
    const Arrays::Level& mine = arrays_->level[k];
    if (levels.level[k].width != mine.width || levels.level[k].height != mine.height) return false;
  }
  return true;
}

void HardwareTexture::fill(const ReduceArgs& levels, void* stream_handle) {
  const auto stream = static_cast<cudaStream_t>(stream_handle);
  const InOrder order(arrays_->last, stream);
  for (std::size_t k = 0; k < arrays_->level.size(); ++k) {
    const Arrays::Level& mine = arrays_->level[k];
    const auto width = static_cast<std::size_t>(mine.width);
    const auto height = static_cast<std::size_t>(mine.height);
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(levels.level[k].data, width * element_bytes(arrays_->dtype), width, height);
    copy.dstArray = mine.array;
    copy.extent = make_cudaExtent(width, height, static_cast<std::size_t>(arrays_->planes));
    copy.kind = cudaMemcpyDeviceToDevice;
    cuda_check(cudaMemcpy3DAsync(&copy, stream), "cudaMemcpy3DAsync");
  }
  order.end();
}

void HardwareTexture::sample(const SampleArgs& args, void* stream_handle) {
  if (args.batch == 0 || args.count == 0 || args.channels == 0 || args.size == 0) return;
  const auto stream = static_cast<cudaStream_t>(stream_handle);
  TextureArgs texture{args, {}, unit_of(arrays_->dtype)};
  for (std::size_t k = 0; k < arrays_->level.size(); ++k) {
    texture.level[k] = args.padding == Padding::kZeros ? arrays_->level[k].zeros : arrays_->level[k].border;
  }
  const long long samples = static_cast<long long>(args.batch) * args.count * args.size * args.size;
  const dim3 grid(static_cast<unsigned>((samples + kThreads - 1) / kThreads),
                  std::min(static_cast<unsigned>(args.channels), kMostShares));
  const InOrder order(arrays_->last, stream);
  hardware_kernel<<<grid, kThreads, 0, stream>>>(texture);
  cuda_check_launch("sample by the texture unit", stream);
  order.end();
}

}  // namespace saccade::tensor::cuda
