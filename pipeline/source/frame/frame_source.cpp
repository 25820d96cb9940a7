#include "pipeline/source/frame/frame_source.h"

#include <fmt/format.h>

#include <utility>

namespace saccade {

Fault no_frame_in_range(const SourceConfig& config, const std::string& uri) {
  const auto blame = [&uri](const char* name, const std::string& value, const char* fault, Hint hint) {
    return InputError(OfOption(name, value).in(uri), fault, hint).fault();
  };
  if (config.start_s > 0) {
    return blame("start", fmt::to_string(config.start_s), "no frame lies between there and the end", Hint::kCheckRange);
  }
  if (config.duration_s) {
    return blame("duration", fmt::to_string(*config.duration_s), "no frame lies in that time", Hint::kCheckRange);
  }
  if (config.input.format == "rawvideo" && !config.input.size.empty()) {
    return blame("input-size", fmt::format("'{}'", config.input.size), "no whole picture of that size is there",
                 Hint::kNone);
  }
  return InputError(fmt::format("{}: no frame in the range asked for", uri), Hint::kCheckRange).fault();
}

Fault no_such_stream(const SourceConfig& config, std::size_t there_are) {
  const int wanted = config.stream_index.value_or(0);
  return InputError(OfOption("stream", fmt::to_string(wanted)).in(config.uri),
                    fmt::format("there is no video stream {}; it has {}, counted from 0", wanted, there_are))
      .fault();
}

// A limit that nobody set is no option that anybody knows.
Fault too_many_pixels(const SourceConfig& config, const std::string& picture) {
  if (config.max_pixels == SourceConfig{}.max_pixels) {
    return InputError(fmt::format("{}: {}, more than the limit of {}", config.uri, picture, config.max_pixels),
                      Hint::kRaisePixelLimit)
        .fault();
  }
  return InputError(OfOption("max-pixels", fmt::to_string(config.max_pixels)).in(config.uri), picture,
                    Hint::kRaisePixelLimit)
      .fault();
}

void refuse_decoding(const SourceConfig& config, const char* source, const char* made) {
  const InputHints& input = config.input;
  if (!config.filters.empty()) {
    throw UsageError(OfOption("vf", fmt::format("'{}'", config.filters)).in(config.uri),
                     fmt::format("{} isn't filtered", source), Hint::kNoFilters);
  }
  const std::pair<const char*, const std::string&> described[] = {{"input-format", input.format},
                                                                  {"input-size", input.size},
                                                                  {"input-rate", input.rate},
                                                                  {"pixel-format", input.pixel_format}};
  for (const auto& [option, value] : described) {
    if (value.empty()) continue;
    throw UsageError(OfOption(option, fmt::format("'{}'", value)).in(config.uri),
                     fmt::format("{}'s name says its size and rate", source), Hint::kNoInputParameters);
  }
  if (config.stream_index.value_or(0) > 0) throw_fault(no_such_stream(config, 1));
  if (config.deinterlace == Deinterlace::kYes) {
    throw UsageError(OfOption("deinterlace", name(config.deinterlace)).in(config.uri),
                     fmt::format("{} has no fields; leave it out", source));
  }
  if (config.require_hwdec) {
    throw UnavailableError(OfOption("require-hwdec").in(config.uri),
                           fmt::format("no hardware decoding: {} is {}", source, made), Hint::kCpuDecoding);
  }
}

void check_pixels(const SourceConfig& config, int width_px, int height_px) {
  const std::int64_t pixels = std::int64_t{width_px} * height_px;
  if (pixels <= config.max_pixels) return;
  throw_fault(too_many_pixels(config, fmt::format("{}x{} is {} pixels", width_px, height_px, pixels)));
}

std::string SourceCounters::damage() const {
  std::string text;
  const auto add = [&text](std::int64_t count, const char* what, const char* how) {
    if (count == 0) return;
    text += fmt::format("{}{} {}{}{}", text.empty() ? "" : ", ", count, what, count == 1 ? "" : "s", how);
  };
  add(packets_corrupt, "corrupt packet", "");
  add(frames_corrupt, "corrupt frame", "");
  add(packets_lost, "packet", " lost on the way");
  add(segments_lost, "segment", " missing");
  return text;
}

SourceCounters& SourceCounters::operator+=(const SourceCounters& other) {
  frames += other.frames;
  packets_corrupt += other.packets_corrupt;
  frames_corrupt += other.frames_corrupt;
  packets_lost += other.packets_lost;
  segments_lost += other.segments_lost;
  pts_made_up += other.pts_made_up;
  pts_not_rising += other.pts_not_rising;
  format_changes += other.format_changes;
  frames_off_device += other.frames_off_device;
  decoder_used = decoder_used || other.decoder_used;
  decoder_erred = decoder_erred || other.decoder_erred;
  several_threads = several_threads || other.several_threads;
  truncated = truncated || other.truncated;
  packets_late += other.packets_late;
  late_ns += other.late_ns;
  waited_ns += other.waited_ns;
  gaps += other.gaps;
  gaps_ns += other.gaps_ns;
  return *this;
}

}  // namespace saccade
