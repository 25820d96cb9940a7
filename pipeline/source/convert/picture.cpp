#include "pipeline/source/convert/picture.h"

#include <fmt/format.h>

#include <utility>

#include "pipeline/error.h"
#include "pipeline/source/convert/dolby_vision.h"
#include "pipeline/source/ffmpeg/hardware.h"
#include "pipeline/source/ffmpeg/picture_facts.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

namespace saccade {

PictureStage::PictureStage(const SourceConfig& config, EmptyFrames& empty_frames, SourceCounters& counters)
    : config_(config),
      empty_frames_(empty_frames),
      counters_(counters),
      fields_(config, empty_frames),
      filters_(config, empty_frames),
      filtering_(!config.filters.empty() && !fields_.runs_users_filters()),
      converter_(config.keep_first_format, config.log) {}

void PictureStage::push(AvFramePtr frame, const FrameTime& time, const VideoStream& video) {
  note_pages(picture_facts(*frame).pages);
  crop_by_tags(*frame, video);
  mender_.mend(*frame, video);
  const ResolvedTags tags = resolve_tags(*frame, video.gray_is_limited());
  const bool is_first = !std::exchange(any_pushed_, true);
  if (is_first) {
    first_tags_ = tags;
    note_assumed(*frame);
    if (!mender_.note().empty()) assumed_.push_back(mender_.note());
    if (std::string note = dolby_vision_note(*frame, *video.stream); !note.empty()) {
      config_.log.warn("{}: {}", config_.uri, note);
      assumed_.push_back(std::move(note));
    }
  }
  // Filters work on the host, and a crop at the left or the top is done there.
  const bool cropped = frame->crop_left != 0 || frame->crop_top != 0;
  if (!config_.keep_on_device || filtering_ || cropped) copy_to_host(*frame);
  const FieldWork before = fields_.work();
  fields_.push(std::move(frame), time, video.stream->codecpar->codec_id, video.frame_rate());
  if (!is_first && before != fields_.work()) config_.log.info("{}: {}", config_.uri, fields_.note());
}

// What the container's tags leave of the picture. They speak of frames of one size: other ones stay whole.
void PictureStage::crop_by_tags(AVFrame& frame, const VideoStream& video) {
  const CropTags& crop = video.crop;
  if (!crop.any()) return;
  const bool applies = frame.width == crop.width && frame.height == crop.height;
  if (applies) {
    frame.crop_left += static_cast<std::size_t>(crop.left);
    frame.crop_top += static_cast<std::size_t>(crop.top);
    frame.crop_right += static_cast<std::size_t>(crop.right);
    frame.crop_bottom += static_cast<std::size_t>(crop.bottom);
    if (const int code = av_frame_apply_cropping(&frame, AV_FRAME_CROP_UNALIGNED); code < 0) {
      throw InputError(fmt::format("cropping as the container asks: {}", av_error_text(code)), Hint::kNone,
                       errno_of(code));
    }
    if (!any_pushed_) {
      assumed_.push_back(
          fmt::format("cropped from {}x{} as the container's tags ask: {} left, {} top, {} right, {} bottom",
                      crop.width, crop.height, crop.left, crop.top, crop.right, crop.bottom));
    }
  }
  const AVPixFmtDescriptor* desc = av_pix_fmt_desc_get(sample_format(frame));
  const bool odd_left = applies && crop.left % 2 != 0 && desc->log2_chroma_w > 0;
  const bool odd_top = applies && crop.top % 2 != 0 && desc->log2_chroma_h > 0;
  converter_.set_chroma_offset({odd_left, odd_top});
}

// Of a file of pages only the first is read: what the input holds is not all here.
void PictureStage::note_pages(int pages) {
  if (pages <= 1) return;
  counters_.truncated = true;
  if (std::exchange(warned_of_pages_, true)) return;
  assumed_.push_back(
      fmt::format("the first of {} pages: the others are left out; split them into files of their own", pages));
  config_.log.warn("{}: {}", config_.uri, assumed_.back());
}

// Through the user's filters.
ReadStatus PictureStage::pull_filtered(AvFramePtr& picture, FrameTime& time, const VideoStream& video) {
  for (;;) {
    AvFramePtr made = empty_frames_.take();
    const ReadStatus status = filters_.pull(*made, time);
    if (status == ReadStatus::kOk) {
      resolve_tags(*made, video.gray_is_limited());
      counters_.pts_not_rising += time.not_rising ? 1 : 0;
      picture = std::move(made);
      return status;
    }
    empty_frames_.give(std::move(made));
    if (status != ReadStatus::kAgain) return status;
    const ReadStatus joined = fields_.pull(picture, time);
    if (joined == ReadStatus::kAgain) return joined;
    if (joined == ReadStatus::kEnd) {
      filters_.finish();
      continue;
    }
    const bool wanted = filters_.push(*picture, time, video.frame_rate());
    empty_frames_.give(std::move(picture));
    if (!wanted) return ReadStatus::kEnd;
  }
}

ReadStatus PictureStage::pull(Frame& out, const VideoStream& video) {
  AvFramePtr picture;
  FrameTime time;
  const ReadStatus status = filtering_ ? pull_filtered(picture, time, video) : fields_.pull(picture, time);
  if (status != ReadStatus::kOk) return status;
  const bool damaged = picture->decode_error_flags != 0 || (picture->flags & AV_FRAME_FLAG_CORRUPT) != 0;
  counters_.frames_corrupt += damaged ? 1 : 0;
  if (counters_.frames == 0) gamut_note_ = wide_gamut_note(*picture);
  if (converter_.convert(*picture, *video.stream)) ++counters_.format_changes;
  out = Frame(std::move(picture), converter_.format(), time.pts_ns, counters_.frames++);
  return ReadStatus::kOk;
}

void PictureStage::reset() {
  fields_.reset();
  filters_.reset();
}

void PictureStage::note_assumed(const AVFrame& frame) {
  const AVPixFmtDescriptor* desc = av_pix_fmt_desc_get(sample_format(frame));
  if (!first_tags_.matrix_tagged && desc->nb_components > 2) {
    assumed_.push_back(
        fmt::format("no colour matrix is tagged: {} is assumed, by the size", name(to_matrix(frame.colorspace))));
  }
  if (!first_tags_.range_tagged) {
    assumed_.push_back(
        fmt::format("no range is tagged: {} is assumed", frame.color_range == AVCOL_RANGE_JPEG ? "full" : "limited"));
  }
}

void PictureStage::describe(const Frame& first, StreamInfo& info) const {
  const FrameView& view = first.view();
  info.width_px = view.width_px;
  info.height_px = view.height_px;
  info.layout = view.layout;
  info.color = view.color;
  info.matrix_tagged = first_tags_.matrix_tagged;
  info.range_tagged = first_tags_.range_tagged;
  info.rotation_deg = converter_.orientation().rotation_deg();
  info.mirrored = converter_.orientation().mirrored();
  const FieldWork work = fields_.work();
  info.deinterlaced = work == FieldWork::kFlagged || work == FieldWork::kAll;
  info.sar = static_cast<double>(view.sar);
  for (const std::string& filters : {fields_.filters(), filtering_ ? config_.filters : "", converter_.filters()}) {
    if (!filters.empty()) info.filters += (info.filters.empty() ? "" : ",") + filters;
  }
  info.notes.insert(info.notes.end(), assumed_.begin(), assumed_.end());
  if (std::string note = fields_.note(); !note.empty()) info.notes.push_back(std::move(note));
  if (!gamut_note_.empty()) info.notes.push_back(gamut_note_);
  info.notes.insert(info.notes.end(), converter_.notes().begin(), converter_.notes().end());
}

}  // namespace saccade
