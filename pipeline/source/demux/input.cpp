#include "pipeline/source/demux/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <vector>

#include "pipeline/error.h"
#include "pipeline/source/demux/guard.h"
#include "pipeline/source/demux/options.h"
#include "pipeline/source/ffmpeg/hardware.h"
#include "pipeline/source/ffmpeg/late_library.h"
#include "pipeline/source/ffmpeg/log.h"

extern "C" {
#include <libavutil/parseutils.h>
#include <libavutil/pixdesc.h>
}

namespace saccade {
namespace {

constexpr double kUnfinishedPlaylistS = 2;
constexpr double kPlaylistOpenS = 5;

// FFmpeg waits for what a list without its end mark may still name.
bool is_playlist_on_disk(const InputLocation& location) {
  if (location.kind != InputKind::kFile || location.sequence || !location.url.starts_with("file:")) return false;
  std::ifstream file(location.url.substr(5));
  std::string begin(7, ' ');
  return file.read(begin.data(), 7) && begin == "#EXTM3U";
}

std::string detail(const ErrorCapture& log, int code) {
  const std::string text = av_error_text(code);
  return log.first().empty() ? text : fmt::format("{} ({})", text, log.first());
}

void check_hints(const InputHints& hints) {
  int width = 0, height = 0;
  AVRational rate = {0, 1};
  if (!hints.size.empty() && av_parse_video_size(&width, &height, hints.size.c_str()) < 0) {
    throw UsageError(fmt::format("input-size '{}': is not WxH", hints.size));
  }
  if (!hints.rate.empty() && av_parse_video_rate(&rate, hints.rate.c_str()) < 0) {
    throw UsageError(fmt::format("input-rate '{}': is no frame rate, as 30 or 30000/1001", hints.rate));
  }
  if (!hints.pixel_format.empty() && av_get_pix_fmt(hints.pixel_format.c_str()) == AV_PIX_FMT_NONE) {
    throw UsageError(
        fmt::format("pixel-format '{}': FFmpeg has none of that name; see 'ffmpeg -pix_fmts'", hints.pixel_format));
  }
}

struct HintName {
  const char* what;
  const char* key;  // FFmpeg's
  std::string InputHints::*value;
};
constexpr std::array<HintName, 3> kHints = {{{"size", "video_size", &InputHints::size},
                                             {"rate", "framerate", &InputHints::rate},
                                             {"pixel format", "pixel_format", &InputHints::pixel_format}}};

// A name is a pattern only where it was found to be one.
Dictionary demuxer_options(const InputHints& hints, const InputLocation& location) {
  Dictionary options;
  for (const HintName& hint : kHints) {
    if (!(hints.*hint.value).empty()) options.set(hint.key, hints.*hint.value);
  }
  if (location.is_device && !hints.format.empty()) options.set("input_format", hints.format);
  if (const auto& sequence = location.sequence) {
    options.set("pattern_type", sequence->is_glob ? "glob" : "sequence");
    options.set("start_number", std::to_string(sequence->first));
  } else if (location.url.starts_with("file:")) {
    options.set("pattern_type", "none");
    options.set("live_start_index", "0");
  }
  return options;
}

// What the demuxer left over, it had no use for.
void check_hints_taken(const SourceConfig& config, Dictionary& left, const AVFormatContext& format) {
  for (const HintName& hint : kHints) {
    if (left.has(hint.key)) {
      throw UsageError(fmt::format("{}: {} says its {} itself", config.uri, format.iformat->name, hint.what),
                       Hint::kNoInputParameters);
    }
  }
}

const AVInputFormat* forced_format(const SourceConfig& config, const InputLocation& location) {
  const bool by_hint = location.format.empty() && !config.input.format.empty();
  const std::string& name = by_hint ? config.input.format : location.format;
  if (name.empty()) return nullptr;
  const AVInputFormat* forced = av_find_input_format(name.c_str());
  if (forced == nullptr) {
    register_devices(by_hint ? fmt::format("input-format {}", name) : config.uri);
    forced = av_find_input_format(name.c_str());
  }
  if (forced == nullptr && by_hint) {
    throw UsageError(fmt::format("input-format '{}': this FFmpeg has none of that name; see 'ffmpeg -demuxers'", name));
  }
  if (forced == nullptr) throw InputError(fmt::format("{}: this FFmpeg has no '{}' input", config.uri, name));
  if (!by_hint && !location.is_device && !config.input.format.empty()) {
    throw UsageError(fmt::format("{}: is read by '{}' alone", config.uri, name), Hint::kNoInputParameters);
  }
  return forced;
}

bool is_raw_without_size(const SourceConfig& config, const InputLocation& location) {
  constexpr std::array<std::string_view, 4> kRawNames = {".yuv", ".cif", ".qcif", ".rgb"};
  if (!config.input.size.empty() || (!config.input.format.empty() && config.input.format != "rawvideo")) return false;
  const bool named = std::any_of(kRawNames.begin(), kRawNames.end(),
                                 [&](std::string_view end) { return location.url.ends_with(end); });
  return config.input.format == "rawvideo" || named;
}

// Ends the opening of an input whose watch said stop.
[[noreturn]] void refuse_stopped(const SourceConfig& config, const ReadWatch& watch) {
  if (watch.interrupted()) {
    throw Error(ErrorKind::kInterrupted, fmt::format("{}: interrupted while it was being opened", config.uri));
  }
  throw InputError(fmt::format("{}: no video came within {:g} s; check that it sends", config.uri, watch.timeout_s()),
                   Hint::kLongerTimeout);
}

// The descriptor of "pipe:3"; standard input where none is named.
int pipe_descriptor(const std::string& url) {
  int number = 0;
  const std::string digits = url.starts_with("pipe:") ? url.substr(5) : "";
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

void open_container(const SourceConfig& config, const InputLocation& location, OpenedInput& input) {
  check_hints(config.input);
  const AVInputFormat* forced = forced_format(config, location);
  AVFormatContext* raw = avformat_alloc_context();
  if (raw == nullptr) throw std::bad_alloc();
  input.guard = std::make_unique<OpenGuard>(*raw, location, config);
  limit_allocations(config.max_pixels);
  raw->interrupt_callback = input.watch->callback();
  prepare_format(*raw, location);
  if (location.kind == InputKind::kPipe) {
    const std::string path = location.url.starts_with("file:") ? location.url.substr(5) : "";
    input.pipe = std::make_unique<PipeInput>(config.uri, pipe_descriptor(location.url), path, *input.watch);
    raw->pb = input.pipe->io();
  }
  Dictionary options = demuxer_options(config.input, location);
  add_network_options(location, config.live, options);
  if (std::string list = input.guard->protocols(); !list.empty()) options.set("protocol_whitelist", list);
  const ErrorCapture log;
  // Frees `raw` when it fails.
  const int opened = avformat_open_input(&raw, location.url.c_str(), forced, options.get());
  if (opened < 0 && input.watch->should_stop()) refuse_stopped(config, *input.watch);
  if (opened < 0 && is_raw_without_size(config, location)) {
    throw InputError(fmt::format("{}: raw video says nothing about itself", config.uri), Hint::kRawParameters);
  }
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
  input.format.reset(raw);
  check_hints_taken(config, options, *input.format);
  if (input.guard->is_local() && !config.allow_network && std::string_view(input.format->iformat->name) == "dash") {
    throw InputError(fmt::format("{}: a DASH manifest on disk may name files anywhere", config.uri),
                     Hint::kAllowNetwork);
  }
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
    throw InputError(fmt::format("{}: {}x{} is {} pixels, more than the limit of {}", config.uri, parameters.width,
                                 parameters.height, pixels, config.max_pixels),
                     Hint::kRaisePixelLimit);
  }
}

// What can be read only once can't be opened anew for the CPU, so the card gets it only where a decoder can also fall
// back.
bool decodes_on_card(const SourceConfig& config, const InputLocation& location, AVCodecID id) {
  if (config.hwdec != HwDecode::kCuda) return false;
  const bool may_fall_back = !config.require_hwdec && location.is_stdin;
  return !may_fall_back ||
         (find_cuda_decoder(id) != nullptr && id != AV_CODEC_ID_AV1);  // FFmpeg's own av1 needs a card
}

// Frame threads hold back a frame each, so live streams get them only when threads were asked for.
CodecContextPtr open_codec(const SourceConfig& config, const InputLocation& location, AVFormatContext& format,
                           AVStream& stream, bool live, ComplaintCounter& complaints) {
  const bool on_card = decodes_on_card(config, location, stream.codecpar->codec_id);
  const AVCodec* codec = on_card ? find_cuda_decoder(stream.codecpar->codec_id) : find_decoder(stream);
  if (codec == nullptr && on_card) {
    throw UnavailableError(
        fmt::format("FFmpeg has no way to decode {} on an NVIDIA GPU", avcodec_get_name(stream.codecpar->codec_id)));
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
  context->thread_type = live && config.threads <= 1 ? FF_THREAD_SLICE : FF_THREAD_FRAME | FF_THREAD_SLICE;
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

// Probing decodes too: within the same limits.
int find_stream_info(const SourceConfig& config, AVFormatContext& format) {
  std::vector<AVDictionary*> options(format.nb_streams, nullptr);
  for (AVDictionary*& entry : options) av_dict_set_int(&entry, "max_pixels", config.max_pixels, 0);
  const int code = avformat_find_stream_info(&format, options.empty() ? nullptr : options.data());
  for (AVDictionary*& entry : options) av_dict_free(&entry);
  return code;
}

}  // namespace

OpenedInput::OpenedInput() = default;
OpenedInput::OpenedInput(OpenedInput&&) noexcept = default;
OpenedInput& OpenedInput::operator=(OpenedInput&&) noexcept = default;
OpenedInput::~OpenedInput() = default;

OpenedInput open_input(const SourceConfig& config, const std::atomic<bool>& interrupted) {
  OpenedInput input;
  const InputLocation location = locate_input(config.uri);
  input.watch = std::make_unique<ReadWatch>(interrupted);
  const bool playlist = is_playlist_on_disk(location);
  const bool bounded = playlist && !config.live.open_timeout_s;
  input.watch->arm(bounded ? kPlaylistOpenS : open_timeout_s(location, config.live));
  open_container(config, location, input);
  if (location.sequence && location.sequence->after_gap > 0) {
    input.last_pts = location.sequence->count - 1;
    input.note = location.sequence->note();
  }
  int probed = 0;
  {
    const ErrorCapture log;
    probed = find_stream_info(config, *input.format);
  }
  if (input.watch->interrupted() || (input.watch->timed_out() && input.format->nb_streams == 0)) {
    refuse_stopped(config, *input.watch);
  }
  input.live = is_live(*input.format, location, config.live);
  input.stall_timeout_s = stall_timeout_s(location, config.live);
  // A playlist on disk without its end mark promises more. Read what is there, from the beginning, and call it cut.
  if (playlist && !config.live.stall_timeout_s) input.stall_timeout_s = kUnfinishedPlaylistS;
  if (probed < 0 && input.format->nb_streams == 0) {
    throw InputError(fmt::format("{}: no stream was found: {}; is the file whole?", config.uri, av_error_text(probed)));
  }
  const int index = pick_stream(config, *input.format);
  for (unsigned i = 0; i < input.format->nb_streams; ++i) {
    if (static_cast<int>(i) != index) input.format->streams[i]->discard = AVDISCARD_ALL;
  }
  input.stream = input.format->streams[index];
  check_size(config, *input.stream->codecpar);
  if (location.is_device) input.note = other_than_asked(config.input, *input.stream);
  input.complaints = std::make_unique<ComplaintCounter>();
  input.codec = open_codec(config, location, *input.format, *input.stream, input.live, *input.complaints);
  return input;
}

}  // namespace saccade
