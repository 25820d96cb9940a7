#include "pipeline/source/decode/codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <string>
#include <string_view>

#include "pipeline/error.h"
#include "pipeline/source/ffmpeg/hardware.h"

namespace saccade {
namespace {

// VP8 and VP9 keep alpha in a side stream that only libvpx reads.
const AVCodec* find_decoder(const AVStream& stream) {
  const AVCodecID id = stream.codecpar->codec_id;
  const AVDictionaryEntry* alpha = av_dict_get(stream.metadata, "alpha_mode", nullptr, 0);
  if (alpha != nullptr && std::string_view(alpha->value) == "1") {
    const char* name = id == AV_CODEC_ID_VP9 ? "libvpx-vp9" : id == AV_CODEC_ID_VP8 ? "libvpx" : nullptr;
    const AVCodec* codec = name != nullptr ? avcodec_find_decoder_by_name(name) : nullptr;
    if (codec != nullptr) return codec;
  }
  return avcodec_find_decoder(id);
}

std::string codec_label(const AVCodecParameters& parameters) {
  char tag[AV_FOURCC_MAX_STRING_SIZE] = {};
  av_fourcc_make_string(tag, parameters.codec_tag);
  return fmt::format("{} (tag '{}')", avcodec_get_name(parameters.codec_id), tag);
}

// What can be read only once can't be reopened for the CPU, so the GPU gets it only where a decoder can also
// fall back.
bool decodes_on_device(const SourceConfig& config, const InputLocation& location, AVCodecID id) {
  if (config.hwdec != HwDecode::kCuda) return false;
  const bool may_fall_back = !config.require_hwdec && location.kind == InputKind::kPipe;
  return !may_fall_back || (find_cuda_decoder(id) != nullptr && id != AV_CODEC_ID_AV1);  // FFmpeg's own av1 needs a GPU
}

}  // namespace

CodecContextPtr open_codec(const SourceConfig& config, const InputLocation& location, const VideoStream& video,
                           bool live, const FfmpegLog& log) {
  const AVStream& stream = *video.stream;
  const bool on_device = decodes_on_device(config, location, stream.codecpar->codec_id);
  const AVCodec* codec = on_device ? find_cuda_decoder(stream.codecpar->codec_id) : find_decoder(stream);
  if (codec == nullptr && on_device) {
    throw UnavailableError(
        fmt::format("FFmpeg has no way to decode {} on an NVIDIA GPU", avcodec_get_name(stream.codecpar->codec_id)));
  }
  if (codec == nullptr) {
    throw InputError(fmt::format("{}: this FFmpeg has no decoder for {}; convert it to H.264 first", config.uri,
                                 codec_label(*stream.codecpar)));
  }
  CodecContextPtr context(avcodec_alloc_context3(codec));
  if (!context || avcodec_parameters_to_context(context.get(), stream.codecpar) < 0) throw std::bad_alloc();
  log.own(*context);
  context->pkt_timebase = stream.time_base;
  context->framerate = av_guess_frame_rate(video.format, video.stream, nullptr);
  const bool shows_loss_alone = stream.codecpar->codec_id == AV_CODEC_ID_H264;  // see Note [Live threads]
  const bool one_thread = live && config.threads <= 1 && shows_loss_alone;
  context->thread_count = one_thread ? 1 : std::max(config.threads, 0);
  context->thread_type = live && config.threads <= 1 ? FF_THREAD_SLICE : FF_THREAD_FRAME | FF_THREAD_SLICE;
  context->flags |= AV_CODEC_FLAG_UNALIGNED;  // the exact crop, for the price of an unaligned pointer
  context->max_pixels = config.max_pixels;
  if (on_device) decode_on_device(*context, config.device, config.new_decoders);
  const ErrorCapture said;
  const int opened = avcodec_open2(context.get(), codec, nullptr);
  if (opened < 0) {
    throw InputError(
        fmt::format("{}: the decoder '{}' can't be started: {}", config.uri, codec->name, said.explain(opened)),
        Hint::kNone, errno_of(opened));
  }
  return context;
}

}  // namespace saccade
