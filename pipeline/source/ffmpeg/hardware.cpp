#include "pipeline/source/ffmpeg/hardware.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "pipeline/error.h"
#include "pipeline/source/ffmpeg/av.h"
#include "pipeline/source/ffmpeg/log.h"
#include "pipeline/source/frame/frame.h"
#if SACCADE_CUDA
#include "gpu/cuda/device.h"
#include "gpu/cuda/stream.h"
#include "gpu/device_error.h"
#include "gpu/nvdec/kept_decoders.h"
#endif

extern "C" {
#include <libavutil/hwcontext.h>
#include <libavutil/pixdesc.h>
#if SACCADE_CUDA
#include <libavutil/hwcontext_cuda.h>
#endif
}

namespace saccade {
namespace {

// Beyond what decoding needs: a full queue of frames, what its two ends hold, and the frame before that Fields keeps.
// NVDEC has 32 surfaces at most.
constexpr int kFramesHeld = 11;
// Enough to keep the device's decoder fed; each costs a surface.
constexpr int kThreads = 4;

struct HwDevice {
  BufferPtr context;  // an AVHWDeviceContext
  std::string why_not;
};

#if SACCADE_CUDA
// Note [FFmpeg on a device]
// A decoder works in the device's primary context, which CUDA's runtime uses as well, so that textures can read its
// frames; and in a stream of its own, which goes with FrameView. The context is handed over as it is: where FFmpeg
// takes the primary one by itself, it insists on flags that hold for the whole process.
struct OwnStream : DevicePlace {
  OwnStream(int ordinal, bool wants_fresh) : cuda(ordinal), fresh(wants_fresh) {
    device = ordinal;
    stream = cuda.get();
  }
  CudaStream cuda;
  bool fresh;  // its decoders worked for no other stream
};

int make_device(int device, bool fresh, BufferPtr& made) {
  made.reset(av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_CUDA));
  if (!made) return AVERROR(ENOSYS);
  auto& context = *reinterpret_cast<AVHWDeviceContext*>(made->data);
  auto& cuda = *static_cast<AVCUDADeviceContext*>(context.hwctx);
  cuda.cuda_ctx = static_cast<CUcontext>(cuda_primary_context(device));
  auto* own = new OwnStream(device, fresh);
  context.user_opaque = static_cast<DevicePlace*>(own);
  context.free = [](AVHWDeviceContext* gone) {
    auto* place = static_cast<DevicePlace*>(gone->user_opaque);
    forget_decoders_of(place->stream);
    delete static_cast<OwnStream*>(place);
  };
  cuda.stream = own->cuda.get();
  return av_hwdevice_ctx_init(made.get());
}

HwDevice open_hw_device(int device, bool fresh) {
  const ErrorCapture log;
  HwDevice hw;
  try {
    const int code = make_device(device, fresh, hw.context);
    if (code < 0) hw.why_not = log.first().empty() ? av_error_text(code) : log.first();
  } catch (const DeviceError& error) {
    hw.why_not = error.what();
  }
  if (!hw.why_not.empty()) hw.context.reset();
  return hw;
}

HwDevice hw_device_of(int device, bool fresh) {
  const CudaStatus status = query_cuda();
  if (status.error.empty()) return open_hw_device(device, fresh);
  HwDevice none;
  none.why_not = status.error;
  return none;
}

void announce(const AVCodecContext& context) {
  const auto& device = *reinterpret_cast<const AVHWDeviceContext*>(context.hw_device_ctx->data);
  const auto& own = *static_cast<const OwnStream*>(static_cast<const DevicePlace*>(device.user_opaque));
  announce_decoder(own.stream, own.fresh);
}
#else
void announce(const AVCodecContext&) {}

// Frames only pass through the device on their way to the host, so FFmpeg's own context will do. One a device for the
// process, kept to its end: making the context takes longer than opening most files.
HwDevice hw_device_of(int device, bool) {
  static std::mutex mutex;
  static auto* const known = new std::map<int, HwDevice>;
  const std::lock_guard lock(mutex);
  auto [at, is_new] = known->try_emplace(device);
  HwDevice& hw = at->second;
  if (is_new) {
    const ErrorCapture log;
    AVBufferRef* made = nullptr;
    const int code = av_hwdevice_ctx_create(&made, AV_HWDEVICE_TYPE_CUDA, std::to_string(device).c_str(), nullptr, 0);
    hw.context.reset(made);
    if (made != nullptr) {
      auto* place = new DevicePlace{device, nullptr};  // as long-lived as the context: for ever
      reinterpret_cast<AVHWDeviceContext*>(made->data)->user_opaque = place;
    }
    if (code < 0) hw.why_not = log.first().empty() ? av_error_text(code) : log.first();
  }
  HwDevice copy;
  copy.why_not = hw.why_not;
  if (hw.context) copy.context.reset(av_buffer_ref(hw.context.get()));
  return copy;
}
#endif

// Subsampled chroma of an odd size is laid out in more than one way on devices.
bool suits_device(const AVCodecContext& context) {
  return context.coded_width % 2 == 0 && context.coded_height % 2 == 0;
}

AVPixelFormat choose_format(AVCodecContext* context, const AVPixelFormat* offered) {
  for (const AVPixelFormat* format = offered; *format != AV_PIX_FMT_NONE; ++format) {
    if (*format != AV_PIX_FMT_CUDA || !suits_device(*context)) continue;
    announce(*context);
    return *format;
  }
  for (const AVPixelFormat* format = offered; *format != AV_PIX_FMT_NONE; ++format) {
    if ((av_pix_fmt_desc_get(*format)->flags & AV_PIX_FMT_FLAG_HWACCEL) == 0) return *format;
  }
  return AV_PIX_FMT_NONE;
}

bool decodes_on_device(const AVCodec& codec) {
  if (av_codec_is_decoder(&codec) == 0 || (codec.capabilities & AV_CODEC_CAP_HARDWARE) != 0) return false;
  for (int i = 0; const AVCodecHWConfig* config = avcodec_get_hw_config(&codec, i); ++i) {
    if (config->pix_fmt == AV_PIX_FMT_CUDA && (config->methods & AV_CODEC_HW_CONFIG_METHOD_HW_DEVICE_CTX) != 0)
      return true;
  }
  return false;
}

}  // namespace

std::string why_no_decoding(HwDecode by, int device) {
  return by == HwDecode::kCuda ? hw_device_of(device, false).why_not : "";
}

std::vector<std::string> cuda_codecs() {
  std::vector<std::string> names;
  void* position = nullptr;
  while (const AVCodec* codec = av_codec_iterate(&position)) {
    if (decodes_on_device(*codec)) names.push_back(avcodec_get_name(codec->id));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

const AVCodec* find_cuda_decoder(AVCodecID id) {
  void* position = nullptr;
  while (const AVCodec* codec = av_codec_iterate(&position)) {
    if (codec->id == id && decodes_on_device(*codec)) return codec;
  }
  return nullptr;
}

void decode_on_device(AVCodecContext& context, int device, bool new_decoders) {
  HwDevice hw = hw_device_of(device, new_decoders);
  if (!hw.context) throw UnavailableError(hw.why_not);
  context.hw_device_ctx = hw.context.release();
  context.get_format = choose_format;
  context.extra_hw_frames = kFramesHeld;
  if (context.thread_count == 0) context.thread_count = kThreads;
}

std::string why_device_is_lost(const AVCodecContext& context) {
#if SACCADE_CUDA
  if (context.hw_device_ctx == nullptr) return {};
  const auto& device = *reinterpret_cast<const AVHWDeviceContext*>(context.hw_device_ctx->data);
  return cuda_fault(static_cast<const DevicePlace*>(device.user_opaque)->device);
#else
  static_cast<void>(context);
  return {};
#endif
}

bool is_on_device(const AVFrame& frame) { return frame.format == AV_PIX_FMT_CUDA; }

AVPixelFormat sample_format(const AVFrame& frame) {
  if (!is_on_device(frame) || frame.hw_frames_ctx == nullptr) return static_cast<AVPixelFormat>(frame.format);
  return reinterpret_cast<const AVHWFramesContext*>(frame.hw_frames_ctx->data)->sw_format;
}

void copy_to_host(AVFrame& frame) {
  if (!is_on_device(frame)) return;
  const AvFramePtr copy(av_frame_alloc());
  if (!copy) throw std::bad_alloc();
  int code = av_hwframe_transfer_data(copy.get(), &frame, 0);
  if (code >= 0) code = av_frame_copy_props(copy.get(), &frame);
  if (code >= 0) code = av_frame_apply_cropping(copy.get(), AV_FRAME_CROP_UNALIGNED);  // left and top: the rest is done
  if (code < 0) {
    throw UnavailableError(fmt::format("copying a frame from the GPU: {}", av_error_text(code)), Hint::kNone,
                           errno_of(code));
  }
  av_frame_unref(&frame);
  av_frame_move_ref(&frame, copy.get());
}

}  // namespace saccade
