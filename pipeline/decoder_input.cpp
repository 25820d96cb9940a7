#include "pipeline/decoder_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "pipeline/decoder_hw.h"
#include "pipeline/decoder_log.h"
#include "pipeline/errors.h"

extern "C" {
#include <libavdevice/avdevice.h>
}

namespace saccade {
namespace {

int on_interrupt(void* flag) { return static_cast<const std::atomic<bool>*>(flag)->load() ? 1 : 0; }

std::string detail(const ErrorCapture& log, int code) {
  const std::string text = av_error_text(code);
  return log.first().empty() ? text : fmt::format("{} ({})", text, log.first());
}

FormatContextPtr open_container(const SourceConfig& config, const InputLocation& location,
                                const std::atomic<bool>& interrupted) {
  const AVInputFormat* forced = nullptr;
  if (!location.format.empty()) {
    forced = av_find_input_format(location.format.c_str());
    if (forced == nullptr) {
      throw InputError(fmt::format("{}: this FFmpeg has no '{}' input", config.uri, location.format));
    }
  }
  AVFormatContext* raw = avformat_alloc_context();
  if (raw == nullptr) throw std::bad_alloc();
  raw->interrupt_callback = {on_interrupt, const_cast<std::atomic<bool>*>(&interrupted)};
  const ErrorCapture log;
  const int opened = avformat_open_input(&raw, location.url.c_str(), forced, nullptr);  // frees `raw` when it fails
  if (opened == AVERROR_INVALIDDATA) {
    throw InputError(
        fmt::format("{}: not a video that FFmpeg recognises, or its header is damaged or missing: {}; "
                    "play it with ffplay to check",
                    config.uri, detail(log, opened)));
  }
  if (opened < 0) {
    throw InputError(fmt::format("{}: can't be opened: {}; check the name and that FFmpeg opens it", config.uri,
                                 detail(log, opened)));
  }
  return FormatContextPtr(raw);
}

bool is_cover(const AVStream& stream) { return (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) != 0; }

std::vector<int> video_streams(const AVFormatContext& format) {
  std::vector<int> found;
  for (unsigned i = 0; i < format.nb_streams; ++i) {
    if (format.streams[i]->codecpar->codec_type == AVMEDIA_TYPE_VIDEO) found.push_back(static_cast<int>(i));
  }
  return found;
}

[[noreturn]] void refuse_without_video(const SourceConfig& config, const AVFormatContext& format, bool has_cover) {
  std::string kinds;
  for (unsigned i = 0; i < format.nb_streams; ++i) {
    const char* kind = av_get_media_type_string(format.streams[i]->codecpar->codec_type);
    const std::string word = kind != nullptr ? kind : "unknown";
    if (kinds.find(word) == std::string::npos) kinds += (kinds.empty() ? "" : ", ") + word;
  }
  if (has_cover) kinds = "audio with a cover picture";
  throw InputError(fmt::format("{}: has no video stream (only: {}); give a file that has one", config.uri,
                               kinds.empty() ? "nothing" : kinds));
}

int pick_stream(const SourceConfig& config, AVFormatContext& format) {
  const std::vector<int> all = video_streams(format);
  std::vector<int> moving;
  std::copy_if(all.begin(), all.end(), std::back_inserter(moving),
               [&](int i) { return !is_cover(*format.streams[i]); });
  if (config.stream_index) {
    const int wanted = *config.stream_index;
    if (wanted < 0 || wanted >= static_cast<int>(all.size())) {
      throw InputError(
          fmt::format("{}: has no video stream {}; it has {}, counted from 0", config.uri, wanted, all.size()));
    }
    return all[static_cast<std::size_t>(wanted)];
  }
  if (moving.empty()) refuse_without_video(config, format, !all.empty());
  const int best = av_find_best_stream(&format, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  if (best >= 0 && !is_cover(*format.streams[best])) return best;
  return moving.front();
}

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

void check_size(const SourceConfig& config, const AVCodecParameters& parameters) {
  const std::int64_t pixels = std::int64_t{parameters.width} * parameters.height;
  if (pixels > config.max_pixels) {
    throw InputError(fmt::format("{}: {}x{} is {} pixels, more than the limit of {}; scale it down first", config.uri,
                                 parameters.width, parameters.height, pixels, config.max_pixels));
  }
}

CodecContextPtr open_codec(const SourceConfig& config, AVFormatContext& format, AVStream& stream,
                           ComplaintCounter& complaints) {
  const bool on_card = config.hwdec == HwDecode::kCuda;
  const AVCodec* codec = on_card ? find_cuda_decoder(stream.codecpar->codec_id) : find_decoder(stream);
  if (codec == nullptr && on_card) {
    throw UnavailableError(
        fmt::format("FFmpeg has no way to decode {} on an NVIDIA card", avcodec_get_name(stream.codecpar->codec_id)));
  }
  if (codec == nullptr) {
    throw InputError(fmt::format("{}: this FFmpeg has no decoder for {}; convert it to H.264 first", config.uri,
                                 codec_label(*stream.codecpar)));
  }
  CodecContextPtr context(avcodec_alloc_context3(codec));
  if (!context || avcodec_parameters_to_context(context.get(), stream.codecpar) < 0) throw std::bad_alloc();
  context->opaque = &complaints;
  context->pkt_timebase = stream.time_base;
  context->framerate = av_guess_frame_rate(&format, &stream, nullptr);
  context->thread_count = std::max(config.threads, 0);
  context->thread_type = FF_THREAD_FRAME | FF_THREAD_SLICE;
  context->flags |= AV_CODEC_FLAG_UNALIGNED;  // the exact crop, for the price of an unaligned pointer
  context->max_pixels = config.max_pixels;
  if (on_card) decode_on_card(*context);
  const ErrorCapture log;
  const int opened = avcodec_open2(context.get(), codec, nullptr);
  if (opened < 0) {
    throw InputError(
        fmt::format("{}: the decoder '{}' can't be started: {}", config.uri, codec->name, detail(log, opened)));
  }
  return context;
}

}  // namespace

OpenedInput open_input(const SourceConfig& config, const std::atomic<bool>& interrupted) {
  static std::once_flag once;
  std::call_once(once, [] { avdevice_register_all(); });

  OpenedInput input;
  input.format = open_container(config, locate_input(config.uri), interrupted);
  int probed = 0;
  {
    const ErrorCapture log;
    probed = avformat_find_stream_info(input.format.get(), nullptr);
  }
  if (probed < 0 && input.format->nb_streams == 0) {
    throw InputError(fmt::format("{}: no stream was found: {}; is the file whole?", config.uri, av_error_text(probed)));
  }
  const int index = pick_stream(config, *input.format);
  for (unsigned i = 0; i < input.format->nb_streams; ++i) {
    if (static_cast<int>(i) != index) input.format->streams[i]->discard = AVDISCARD_ALL;
  }
  input.stream = input.format->streams[index];
  check_size(config, *input.stream->codecpar);
  input.complaints = std::make_unique<ComplaintCounter>();
  input.codec = open_codec(config, *input.format, *input.stream, *input.complaints);
  return input;
}

}  // namespace saccade
