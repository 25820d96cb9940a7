#include "pipeline/source/ffmpeg/hardware.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "pipeline/error.h"
#include "pipeline/source/ffmpeg/av.h"
#include "pipeline/source/ffmpeg/log.h"
#include "pipeline/source/frame/frame.h"
#if SACCADE_CUDA
#include "gpu/cuda/device.h"
#endif

extern "C" {
#include <libavutil/hwcontext.h>
#include <libavutil/pixdesc.h>
}

namespace saccade {
namespace {

// Beyond what decoding needs: a full queue of frames and what its two ends hold. NVDEC has 32 surfaces at most.
constexpr int kFramesHeld = 10;
// Enough to keep the card's decoder fed; each costs a surface.
constexpr int kThreads = 4;
constexpr int kPrimaryContext = 1;  // AV_CUDA_USE_PRIMARY_CONTEXT, whose header needs CUDA's

struct Card {
  AVBufferRef* device = nullptr;
  std::string why_not;
};

Card open_card() {
  const ErrorCapture log;
  Card card;
  const int code = av_hwdevice_ctx_create(&card.device, AV_HWDEVICE_TYPE_CUDA, nullptr, nullptr, kPrimaryContext);
  if (code < 0) card.why_not = log.first().empty() ? av_error_text(code) : log.first();
  return card;
}

// One for the process, kept to its end: making the context takes longer than opening most files.
const Card& shared_card() {
  static const Card* const card = new Card(open_card());
  return *card;
}

// Subsampled chroma of an odd size is laid out in more than one way on cards.
bool suits_card(const AVCodecContext& context) { return context.coded_width % 2 == 0 && context.coded_height % 2 == 0; }

AVPixelFormat choose_format(AVCodecContext* context, const AVPixelFormat* offered) {
  for (const AVPixelFormat* format = offered; *format != AV_PIX_FMT_NONE; ++format) {
    if (*format == AV_PIX_FMT_CUDA && suits_card(*context)) return *format;
  }
  for (const AVPixelFormat* format = offered; *format != AV_PIX_FMT_NONE; ++format) {
    if ((av_pix_fmt_desc_get(*format)->flags & AV_PIX_FMT_FLAG_HWACCEL) == 0) return *format;
  }
  return AV_PIX_FMT_NONE;
}

bool decodes_on_card(const AVCodec& codec) {
  if (av_codec_is_decoder(&codec) == 0 || (codec.capabilities & AV_CODEC_CAP_HARDWARE) != 0) return false;
  for (int i = 0; const AVCodecHWConfig* config = avcodec_get_hw_config(&codec, i); ++i) {
    if (config->pix_fmt == AV_PIX_FMT_CUDA && (config->methods & AV_CODEC_HW_CONFIG_METHOD_HW_DEVICE_CTX) != 0)
      return true;
  }
  return false;
}

}  // namespace

std::string why_no_cuda_decoding() { return shared_card().why_not; }

std::vector<std::string> cuda_codecs() {
  std::vector<std::string> names;
  void* position = nullptr;
  while (const AVCodec* codec = av_codec_iterate(&position)) {
    if (decodes_on_card(*codec)) names.push_back(avcodec_get_name(codec->id));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

const AVCodec* find_cuda_decoder(AVCodecID id) {
  void* position = nullptr;
  while (const AVCodec* codec = av_codec_iterate(&position)) {
    if (codec->id == id && decodes_on_card(*codec)) return codec;
  }
  return nullptr;
}

void decode_on_card(AVCodecContext& context) {
  const Card& card = shared_card();
  if (card.device == nullptr) throw UnavailableError(card.why_not);
  context.hw_device_ctx = av_buffer_ref(card.device);
  if (context.hw_device_ctx == nullptr) throw std::bad_alloc();
  context.get_format = choose_format;
  context.extra_hw_frames = kFramesHeld;
  if (context.thread_count == 0) context.thread_count = kThreads;
}

std::string why_card_is_lost() {
#if SACCADE_CUDA
  return cuda_fault();
#else
  return {};
#endif
}

bool is_on_card(const AVFrame& frame) { return frame.format == AV_PIX_FMT_CUDA; }

AVPixelFormat sample_format(const AVFrame& frame) {
  if (!is_on_card(frame) || frame.hw_frames_ctx == nullptr) return static_cast<AVPixelFormat>(frame.format);
  return reinterpret_cast<const AVHWFramesContext*>(frame.hw_frames_ctx->data)->sw_format;
}

void copy_to_host(AVFrame& frame) {
  if (!is_on_card(frame)) return;
  const AvFramePtr copy(av_frame_alloc());
  if (!copy) throw std::bad_alloc();
  int code = av_hwframe_transfer_data(copy.get(), &frame, 0);
  if (code >= 0) code = av_frame_copy_props(copy.get(), &frame);
  if (code >= 0) code = av_frame_apply_cropping(copy.get(), AV_FRAME_CROP_UNALIGNED);  // left and top: the rest is done
  if (code < 0) throw UnavailableError(fmt::format("copying a frame from the GPU: {}", av_error_text(code)));
  av_frame_unref(&frame);
  av_frame_move_ref(&frame, copy.get());
}

}  // namespace saccade
