#include "pipeline/source/demux/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <new>
#include <string_view>
#include <vector>

#include "pipeline/error.h"
#include "pipeline/source/demux/options.h"
#include "pipeline/source/demux/truncation.h"
#include "pipeline/source/ffmpeg/log.h"
#include "pipeline/source/tags/container_tags.h"

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

bool is_raw_without_size(const SourceConfig& config, const InputLocation& location) {
  constexpr std::array<std::string_view, 4> kRawNames = {".yuv", ".cif", ".qcif", ".rgb"};
  if (!config.input.size.empty() || (!config.input.format.empty() && config.input.format != "rawvideo")) return false;
  const bool named = std::any_of(kRawNames.begin(), kRawNames.end(),
                                 [&](std::string_view end) { return location.url.ends_with(end); });
  return config.input.format == "rawvideo" || named;
}

bool is_raw(const SourceConfig& config) { return config.input.format == "rawvideo" && !config.input.size.empty(); }

// Ends the opening of an input whose watch said stop.
[[noreturn]] void refuse_stopped(const SourceConfig& config, const ReadWatch& watch) {
  if (watch.interrupted()) {
    throw Error(ErrorKind::kInterrupted, fmt::format("{}: interrupted while it was being opened", config.uri));
  }
  const std::string fault = fmt::format("no video came within {:g} s; check that it sends", watch.timeout_s());
  if (const auto& given_s = config.live.open_timeout_s) {
    throw InputError(OfOption("open-timeout", fmt::to_string(*given_s)).in(config.uri), fault, Hint::kLongerTimeout,
                     ETIME);
  }
  throw InputError(fmt::format("{}: {}", config.uri, fault), Hint::kLongerTimeout, ETIME);
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
  input.guard = std::make_unique<OpenGuard>(*raw, location, config, *input.watch);
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
  const int opened = avformat_open_input(&raw, url_of(location).c_str(), forced, options.get());
  input.guard->end_opening(raw);
  if (opened < 0 && (input.watch->interrupted() || input.watch->timed_out())) refuse_stopped(config, *input.watch);
  if (opened < 0 && is_raw_without_size(config, location)) {
    throw InputError(fmt::format("{}: raw video says nothing about itself", config.uri), Hint::kRawParameters);
  }
  // What a connection or a camera says is not the option's fault.
  const bool misread =
      (opened == AVERROR_INVALIDDATA || opened == AVERROR(EINVAL)) && location.kind != InputKind::kDevice;
  if (misread && is_raw(config)) {
    throw InputError(OfOption("input-size", fmt::format("'{}'", config.input.size)).in(config.uri),
                     fmt::format("raw video can't be read so: {}", log.explain(opened)));
  }
  if (misread && forced != nullptr && !config.input.format.empty()) {
    throw InputError(OfOption("input-format", fmt::format("'{}'", config.input.format)).in(config.uri),
                     fmt::format("can't be opened so: {}", log.explain(opened)));
  }
  if (opened == AVERROR_INVALIDDATA) {
    throw InputError(
        fmt::format("{}: not a video that FFmpeg recognises, or its header is damaged or missing: {}; "
                    "play it with ffplay to check",
                    config.uri, log.explain(opened)));
  }
  if (opened < 0) {
    throw InputError(fmt::format("{}: can't be opened: {}; check the name and that FFmpeg opens it", config.uri,
                                 log.explain(opened)),
                     Hint::kNone, errno_of(opened));
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
      throw_fault(no_such_stream(config, all.size()));
    }
    return all[static_cast<std::size_t>(wanted)];
  }
  if (moving.empty()) refuse_without_video(config, format, !all.empty());
  const int best = av_find_best_stream(&format, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  if (best >= 0 && !is_cover(*format.streams[best])) return best;
  return moving.front();
}

// Probing decodes too: within the same limits.
int find_stream_info(const SourceConfig& config, AVFormatContext& format) {
  std::vector<AVDictionary*> options(format.nb_streams, nullptr);
  for (AVDictionary*& entry : options) av_dict_set_int(&entry, "max_pixels", config.max_pixels, 0);
  const int code = avformat_find_stream_info(&format, options.empty() ? nullptr : options.data());
  for (AVDictionary*& entry : options) av_dict_free(&entry);
  return code;
}

void read_tags(const SourceConfig& config, const InputLocation& location, OpenedInput& input) {
  const bool on_disk = location.kind == InputKind::kFile && location.url.starts_with("file:");
  const bool crop = config.crop_tags == CropByTags::kYes;
  const ContainerTags tags = read_container_tags(on_disk ? location.url : "", crop, input.video);
  if (tags.items_unread)
    input.note = "the picture's orientation can't be read where the input can't be sought in; give its file";
  if (on_disk) input.movies = read_mp4_movies(location.url, input.video);
  input.end_byte = second_mxf_byte(*input.format);
  if (input.end_byte) input.movies.unread_byte = input.end_byte;
  if (const auto& byte = input.movies.unread_byte) input.note = second_file_note(*byte);
  if (tags.derivation.empty() || config.stream_index) return;
  throw InputError(
      fmt::format("{}: the picture is a '{}' of other pictures, which are not put together here; convert it to "
                  "PNG or JPEG first",
                  config.uri, tags.derivation));
}

// The container, the stream and its facts.
void read_head(const SourceConfig& config, const InputLocation& location, OpenedInput& input) {
  const bool playlist = is_playlist_on_disk(location);
  const bool bounded = playlist && !config.live.open_timeout_s;
  input.watch->arm(bounded ? kPlaylistOpenS : open_timeout_s(location, config.live));
  open_container(config, location, input);
  if (location.sequence && location.sequence->after_gap > 0) {
    input.last_pts = location.sequence->count - 1;
    input.note = location.sequence->note();
  }
  int probed = 0;
  std::string logged;
  {
    const ErrorCapture log;
    probed = find_stream_info(config, *input.format);
    logged = log.first();
  }
  if (input.watch->interrupted() || (input.watch->timed_out() && input.format->nb_streams == 0)) {
    refuse_stopped(config, *input.watch);
  }
  input.live = input.guard->length_bytes() == 0 && is_live(*input.format, location, config.live);
  const bool may_wait = input.guard->http() != nullptr && !is_multipart(*input.format);
  input.sender_waits = input.live && may_wait && !config.live.assume_live;
  const bool timed_by_user = !config.input.rate.empty() && is_multipart(*input.format);
  input.timeless = carries_no_times(*input.format) && (input.live || timed_by_user);
  input.stall_timeout_s = stall_timeout_s(location, config.live);
  // A playlist on disk without its end mark promises more. Read what is there, from the beginning, and call it cut.
  if (playlist && !config.live.stall_timeout_s) input.stall_timeout_s = kUnfinishedPlaylistS;
  const HttpConnections& connections = input.guard->connections();
  const bool resumes = input.guard->resumes() || (is_playlist(*input.format) && connections.any());
  if (resumes && !input.live && connections.patience_s() > 0) input.stall_timeout_s = connections.patience_s();
  if (probed < 0 && input.format->nb_streams == 0) {
    throw InputError(fmt::format("{}: no stream was found: {}; is the file whole?", config.uri, av_error_text(probed)),
                     Hint::kNone, errno_of(probed));
  }
  const int index = pick_stream(config, *input.format);
  // Whether a file came whole whose length its server does not announce, the last packets of all streams show.
  const bool needs_others = input.guard->http() != nullptr && input.guard->length_bytes() == 0 && !input.live;
  for (unsigned i = 0; i < input.format->nb_streams; ++i) {
    if (static_cast<int>(i) != index && !needs_others) input.format->streams[i]->discard = AVDISCARD_ALL;
  }
  input.video = {input.format.get(), input.format->streams[index], {}};
  const AVCodecParameters& parameters = *input.video.stream->codecpar;
  if (parameters.width == 0 && says_too_many_pixels(logged)) {
    throw_fault(too_many_pixels(config, "a picture has more pixels"));
  }
  check_pixels(config, parameters.width, parameters.height);
  read_tags(config, location, input);
  if (location.kind == InputKind::kDevice) input.note = other_than_asked(config.input, *input.video.stream);
}

// Why an input that could not be opened may be whole all the same: its server, or the way to it, failed.
// Empty: neither did.
std::string why_lost(const OpenedInput& input, const LinkNotes& link) {
  if (!input.guard || input.guard->http() == nullptr) return "";
  const bool broke = !input.watch->timed_out() && input.guard->input_broke(link);
  if (broke || link.breaks > 0) return "lost connection while it was opened";
  const bool ended = input.guard->length_bytes() == 0 && input.guard->http()->error == AVERROR(EIO);
  return ended ? "the answer announced no length and may have been cut off" : "";
}

}  // namespace

std::string second_file_note(std::int64_t byte) {
  return fmt::format("a second video begins at byte {} of the file and is not read; split the file there", byte);
}

OpenedInput open_input(const SourceConfig& config, const InputLocation& location, const FfmpegLog& log,
                       const std::atomic<bool>& interrupted) {
  OpenedInput input;
  LinkNotes& link = log.link();
  link = {};
  input.watch = std::make_unique<ReadWatch>(interrupted, link);
  try {
    read_head(config, location, input);
  } catch (const InputError& error) {
    const std::string why = why_lost(input, link);
    if (why.empty()) throw;
    const std::string name = config.uri + ": ";
    const std::string fault = error.what();
    throw InputError(fmt::format("{}{}: {}", name, why, fault.starts_with(name) ? fault.substr(name.size()) : fault),
                     Hint::kNone, ECONNRESET);
  }
  return input;
}

}  // namespace saccade
