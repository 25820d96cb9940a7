#include "pipeline/source/convert/converter.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "pipeline/error.h"
#include "pipeline/source/convert/color_tags.h"
#include "pipeline/source/ffmpeg/hardware.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

namespace saccade {
namespace {

BufferPtr make_neutral_chroma(int width, int height, int depth) {
  const std::size_t samples = static_cast<std::size_t>((width + 1) / 2) * static_cast<std::size_t>((height + 1) / 2);
  BufferPtr buffer(av_buffer_alloc(samples * (depth > 8 ? 2 : 1) + 64));
  if (!buffer) throw std::bad_alloc();
  if (depth <= 8) {
    std::fill_n(buffer->data, buffer->size, std::uint8_t{128});
  } else {
    std::fill_n(reinterpret_cast<std::uint16_t*>(buffer->data), buffer->size / 2,
                static_cast<std::uint16_t>(1U << (depth - 1)));
  }
  return buffer;
}

// A message of these codecs holds until the next one (H.264 D.2.27). Elsewhere, as in EXIF, it is one picture's.
bool matrix_holds(AVCodecID codec) {
  return codec == AV_CODEC_ID_H264 || codec == AV_CODEC_ID_HEVC || codec == AV_CODEC_ID_VVC;
}

std::string orientation_sentence(Orientation orientation) {
  std::string text;
  if (orientation.rotation_deg() != 0)
    text = fmt::format("rotated by {} degrees clockwise", orientation.rotation_deg());
  if (orientation.mirrored()) text += text.empty() ? "mirrored horizontally" : " and mirrored horizontally";
  return text.empty() ? text : text + ", as the display matrix asks";
}

}  // namespace

Converter::Converter(bool keep_first_format, Log log) : keep_first_format_(keep_first_format), log_(std::move(log)) {}

FrameTraits Converter::traits_of(const AVFrame& frame, const AVStream& stream) {
  FrameTraits traits;
  traits.chroma_offset = chroma_offset_;
  traits.format = sample_format(frame);
  traits.width = frame.width;
  traits.height = frame.height;
  traits.space = frame.colorspace;
  traits.range = frame.color_range;
  traits.site = frame.chroma_location;
  traits.transfer = frame.color_trc;
  if (const std::int32_t* matrix = find_display_matrix(frame, stream, !has_own_matrix_)) {
    const bool holds = matrix_holds(stream.codecpar->codec_id);
    has_own_matrix_ = holds && (has_own_matrix_ || find_display_matrix(frame, stream, false) != nullptr);
    const MatrixKind kind = read_display_matrix(matrix, traits.orientation);
    orientation_note_ = kind == MatrixKind::kUpright ? ""
                        : kind == MatrixKind::kOblique
                            ? "the display matrix asks for no multiple of 90 degrees: not rotated"
                            : "the display matrix is degenerate: not rotated";
  } else if (has_own_matrix_) {
    traits.orientation = traits_.orientation;
  } else {
    orientation_note_.clear();
  }
  return traits;
}

bool Converter::convert(AVFrame& frame, const AVStream& stream) {
  const FrameTraits traits = traits_of(frame, stream);
  const bool changed = has_traits_ && !(traits == traits_);
  // NVDEC may give up in mid-stream.
  const bool moved = has_traits_ && only_rotates() && rotates_on_device_ != can_rotate_on_device(frame);
  if (!has_traits_ || changed || moved) {
    traits_ = traits;
    has_traits_ = true;
    rebuild(frame, true);
  }
  const AVRational sar = frame.sample_aspect_ratio;
  if (rotates_on_device_) rotator_.rotate(frame, format_.layout, traits_.orientation);
  if (graph_) {
    copy_to_host(frame);
    run_graph(frame);
  }
  if (neutral_chroma_) attach_neutral_chroma(frame);

  const bool reshaped = note_shape(displayed_sar(sar));
  return reshaped || changed;
}

// True: a pixel has another shape than before, which is warned of once.
bool Converter::note_shape(float sar) {
  const float before = std::exchange(format_.sar, sar);
  if (!std::exchange(has_shape_, true) || before == sar) return false;
  if (!std::exchange(warned_of_shape_, true)) {
    log_.warn(
        "a pixel's width over its height changes from {:.4g} to {:.4g}: drawn so, but distances from the "
        "fixation keep the first",
        before, sar);
  }
  return true;
}

void Converter::rebuild(AVFrame& frame, bool try_zscale) {
  plan_ = plan_conversion(traits_, keep_first_format_ ? first_ : std::nullopt, try_zscale);
  graph_.reset();
  rotates_on_device_ = only_rotates() && can_rotate_on_device(frame);
  if (!plan_.filters.empty() && !rotates_on_device_) {
    copy_to_host(frame);
    graph_ = std::make_unique<FilterGraph>(plan_.filters, frame, AVRational{0, 1}, 1);
  }
  graph_proven_ = false;

  format_.layout = canonical_layout(plan_.canonical).value();
  const int depth = av_pix_fmt_desc_get(plan_.canonical)->comp[0].depth;
  format_.shift = format_.layout == PixelLayout::kI420p16 ? 16 - depth : 0;
  const bool rotated = traits_.orientation.transpose;
  const int width = rotated ? plan_.height : plan_.width;
  const int height = rotated ? plan_.width : plan_.height;
  neutral_chroma_ = plan_.canonical != plan_.filtered ? make_neutral_chroma(width, height, depth) : nullptr;
  if (!first_) first_ = {plan_.canonical, width, height, plan_.space, plan_.range};

  format_.color = to_color_spec({plan_.space, plan_.range, plan_.site, traits_.chroma_offset}, plan_.canonical,
                                plan_.width, plan_.height, traits_.orientation);
  notes_ = plan_.notes;
  if (!orientation_note_.empty()) notes_.push_back(orientation_note_);
  if (std::string text = orientation_sentence(traits_.orientation); !text.empty()) notes_.push_back(std::move(text));
}

// One in, one out. The first frame of a graph is kept until it came through: where zimg refuses it, swscale is tried.
void Converter::run_graph(AVFrame& frame) {
  const AvFramePtr kept(graph_proven_ ? nullptr : av_frame_clone(&frame));
  frame.pts = AV_NOPTS_VALUE;
  int code = graph_->push(&frame);
  if (code >= 0) code = graph_->pull(&frame);
  if (code < 0 && kept && plan_.filters.find("zscale") != std::string::npos) {
    log_.warn("zscale refused this picture ({}); converting with swscale", av_error_text(code));
    rebuild(*kept, false);
    av_frame_unref(&frame);
    if (graph_) {
      code = graph_->push(kept.get());
      if (code >= 0) code = graph_->pull(&frame);
    }
  }
  if (code < 0)
    throw InputError(fmt::format("converting by '{}': {}", plan_.filters, av_error_text(code)), Hint::kNone,
                     errno_of(code));
  graph_proven_ = true;
}

void Converter::attach_neutral_chroma(AVFrame& frame) const {
  frame.buf[1] = av_buffer_ref(neutral_chroma_.get());
  if (frame.buf[1] == nullptr) throw std::bad_alloc();
  const int depth = av_pix_fmt_desc_get(plan_.canonical)->comp[0].depth;
  frame.data[1] = frame.data[2] = frame.buf[1]->data;
  frame.linesize[1] = frame.linesize[2] = (frame.width + 1) / 2 * (depth > 8 ? 2 : 1);
  frame.format = plan_.canonical;
}

// The shape of a pixel rotates with the picture, and changes when the picture is scaled to another aspect.
float Converter::displayed_sar(AVRational sar) const {
  double value = sar.num > 0 && sar.den > 0 ? av_q2d(sar) : 1.0;
  value *= static_cast<double>(traits_.width) * plan_.height / (static_cast<double>(traits_.height) * plan_.width);
  return static_cast<float>(traits_.orientation.transpose ? 1.0 / value : value);
}

}  // namespace saccade
