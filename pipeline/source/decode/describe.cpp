#include "pipeline/source/decode/describe.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "pipeline/source/ffmpeg/hardware.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

namespace saccade {
void describe_input(const Playback& playback, const AVFrame& frame, const SourceConfig& config, StreamInfo& info) {
  const AVFormatContext& format = playback.format();
  const AVStream& stream = playback.stream();
  info.uri = config.uri;
  info.container = format.iformat->name;
  info.codec = avcodec_get_name(stream.codecpar->codec_id);
  info.decoder = playback.codec().codec->name;
  const char* pixel_format = av_get_pix_fmt_name(sample_format(frame));
  info.pixel_format = pixel_format != nullptr ? pixel_format : "unknown";
  info.hwdec = is_on_card(frame) ? "cuda" : "no";
  info.stream_index = stream.index;
  info.coded_width_px = frame.width;
  info.coded_height_px = frame.height;
  if (stream.avg_frame_rate.num > 0 && stream.avg_frame_rate.den > 0) info.fps = av_q2d(stream.avg_frame_rate);
  if (stream.duration != AV_NOPTS_VALUE && stream.duration > 0) {
    info.duration_s = static_cast<double>(stream.duration) * av_q2d(stream.time_base);
  } else if (format.duration != AV_NOPTS_VALUE && format.duration > 0) {
    info.duration_s = static_cast<double>(format.duration) / AV_TIME_BASE;
  }
  if (stream.nb_frames > 0) info.frame_count = stream.nb_frames;
  info.live = playback.reader().live();
  if (!playback.note().empty()) info.notes.push_back(playback.note());
}

void describe_tags(const AVFrame& frame, const ResolvedTags& tags, StreamInfo& info) {
  info.matrix_tagged = tags.matrix_tagged;
  info.range_tagged = tags.range_tagged;
  const AVPixFmtDescriptor* desc = av_pix_fmt_desc_get(sample_format(frame));
  if (!tags.matrix_tagged && desc->nb_components > 2) {
    info.notes.push_back(
        fmt::format("no colour matrix is tagged: {} is assumed, by the size", name(to_matrix(frame.colorspace))));
  }
  if (!tags.range_tagged) {
    info.notes.push_back(
        fmt::format("no range is tagged: {} is assumed", frame.color_range == AVCOL_RANGE_JPEG ? "full" : "limited"));
  }
}

void describe_filters(const FrameFilters& filters, StreamInfo& info) {
  const FieldWork work = filters.field_work();
  info.deinterlaced = work == FieldWork::kFlagged || work == FieldWork::kAll;
  info.filters = filters.description();
  if (std::string note = filters.field_note(); !note.empty()) info.notes.push_back(std::move(note));
}

void describe_converter(const Converter& converter, const FrameView& view, StreamInfo& info) {
  info.width_px = view.width_px;
  info.height_px = view.height_px;
  info.layout = view.layout;
  info.color = view.color;
  info.sar = static_cast<double>(view.sar);
  info.rotation_deg = converter.turn().rotation_deg();
  info.mirrored = converter.turn().mirrored();
  if (!converter.filters().empty()) info.filters += (info.filters.empty() ? "" : ",") + converter.filters();
  for (const std::string& note : converter.notes()) info.notes.push_back(note);
}

}  // namespace saccade
