#include "pipeline/source/decode/describe.h"

#include <fmt/format.h>

#include <utility>

#include "pipeline/source/demux/options.h"
#include "pipeline/source/ffmpeg/hardware.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

namespace saccade {

void describe_input(const TimedFrames& times, const AVFrame& first, const SourceConfig& config, StreamInfo& info) {
  const AVFormatContext& format = *times.video().format;
  const AVStream& stream = *times.video().stream;
  info.uri = config.uri;
  info.container = format.iformat->name;
  info.codec = avcodec_get_name(stream.codecpar->codec_id);
  info.decoder = times.packets().codec().name;
  const char* pixel_format = av_get_pix_fmt_name(sample_format(first));
  info.pixel_format = pixel_format != nullptr ? pixel_format : "unknown";
  info.hwdec = is_on_device(first) ? HwDecode::kCuda : HwDecode::kNo;
  info.stream_index = stream.index;
  info.coded_width_px = first.width;
  info.coded_height_px = first.height;
  if (stream.avg_frame_rate.num > 0 && stream.avg_frame_rate.den > 0) info.fps = av_q2d(stream.avg_frame_rate);
  if (stream.duration != AV_NOPTS_VALUE && stream.duration > 0) {
    info.duration_s = static_cast<double>(stream.duration) * av_q2d(stream.time_base);
  } else if (format.duration != AV_NOPTS_VALUE && format.duration > 0) {
    info.duration_s = static_cast<double>(format.duration) / AV_TIME_BASE;
  }
  if (stream.nb_frames > 0) info.frame_count = stream.nb_frames;
  info.live = times.demuxer().live();
  info.sender_waits = times.demuxer().sender_waits();
  if (!times.demuxer().note().empty()) info.notes.push_back(times.demuxer().note());
  if (!times.demuxer().timeless()) return;
  const AVRational rate = given_rate(config.input);
  info.fps = av_q2d(rate);
  info.notes.push_back(
      rate.num > 0 ? fmt::format("the stream carries no times: its frames lie {} a second, as given", config.input.rate)
                   : "the stream carries no times: its frames have those of their arrival, smoothed");
  config.log.info("{}: {}", config.uri, info.notes.back());
}

Fault why_no_frame(const TimedFrames& times, const SourceConfig& config, const std::string& logged) {
  const PacketDecoder& packets = times.packets();
  const auto input = [&config](const std::string& what, int error = 0) {
    return Fault{ErrorKind::kInput, fmt::format("{}: {}", config.uri, what), Hint::kNone, {}, error};
  };
  if (times.end().lost) return input(times.end().reason, times.end().error);
  if (packets.encrypted()) return input("the video is encrypted; decrypt it first");
  if (times.any_decoded() && !config.filters.empty() && config.start_s <= 0) {
    return InputError(OfOption("vf", fmt::format("'{}'", config.filters)).in(config.uri),
                      "the filters let no frame through", Hint::kCheckFilters)
        .fault();
  }
  if (times.any_decoded()) return no_frame_in_range(config, config.uri);
  if (says_too_many_pixels(logged)) {
    return too_many_pixels(config, "a picture has more pixels");
  }
  const int code = packets.first_error();
  std::string why = code != 0 ? av_error_text(code) : "";
  if (!logged.empty()) why += why.empty() ? logged : fmt::format(" ({})", logged);
  if (why.empty()) why = "the stream holds no picture";
  const bool is_raw = config.input.format == "rawvideo";  // a camera's size is a wish
  for (const auto& [option, value] :
       {std::pair("input-size", is_raw ? config.input.size : ""), {"input-format", config.input.format}}) {
    if (value.empty()) continue;
    return InputError(OfOption(option, fmt::format("'{}'", value)).in(config.uri),
                      fmt::format("no frame could be decoded: {}", why), Hint::kNone, errno_of(code))
        .fault();
  }
  return input(fmt::format("no frame could be decoded: {}; play it with ffplay to check", why), errno_of(code));
}

}  // namespace saccade
