#include "pipeline/source/convert/mend.h"

#include <fmt/format.h>

#include <new>
#include <string_view>

#include "pipeline/error.h"
#include "pipeline/source/ffmpeg/hardware.h"
#include "pipeline/source/ffmpeg/picture_facts.h"
#include "pipeline/source/frame/frame.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

namespace saccade {
namespace {

// The format with the same planes whose fourth component is unused; the same format: there is none.
AVPixelFormat without_alpha(AVPixelFormat format) {
  switch (format) {
    case AV_PIX_FMT_BGRA:
      return AV_PIX_FMT_BGR0;
    case AV_PIX_FMT_RGBA:
      return AV_PIX_FMT_RGB0;
    case AV_PIX_FMT_ARGB:
      return AV_PIX_FMT_0RGB;
    case AV_PIX_FMT_ABGR:
      return AV_PIX_FMT_0BGR;
    default:
      return format;
  }
}

// BI_RGB of 32 bits in a BITMAPINFOHEADER, which these containers hold: the fourth byte is unused by definition. FFmpeg
// gives BGRA.
bool is_dib_of_32_bits(const VideoStream& video) {
  const AVCodecParameters& codec = *video.stream->codecpar;
  if (codec.codec_id != AV_CODEC_ID_RAWVIDEO || codec.codec_tag != 0 || codec.bits_per_coded_sample != 32) return false;
  const std::string_view container = video.format->iformat->name;
  return container == "avi" || container == "asf" || container == "wtv" || container.starts_with("matroska");
}

bool is_limited_rgb(const AVFrame& frame) {
  if (frame.color_range != AVCOL_RANGE_MPEG) return false;
  const AVPixFmtDescriptor* desc = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  constexpr auto kOther = AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_FLOAT | AV_PIX_FMT_FLAG_BAYER;
  return desc != nullptr && (desc->flags & AV_PIX_FMT_FLAG_RGB) != 0 && desc->comp[0].depth >= 8 &&
         (desc->flags & static_cast<std::uint64_t>(kOther)) == 0;
}

// C, M, Y, K are FFmpeg's Y, U, V, A. Red is (1 - C) (1 - K), and so on.
std::string cmyk_to_rgb() {
  return "scale=flags=bicubic+accurate_rnd:in_range=pc:out_range=pc,format=yuva444p,"
         "mergeplanes=map0p=1:map1p=2:map2p=0:map3p=3:format=gbrap,negate=negate_alpha=1,premultiply=inplace=1,"
         "scale=flags=accurate_rnd,format=gbrp";
}

// (v - 16) / 219 of the full range, the constants times 2^(depth - 8), rounded.
std::string expand_rgb(int depth) {
  const int most = (1 << depth) - 1;
  const std::string curve =
      fmt::format("clip((val-{})*{}/{}+0.5\\,0\\,{})", 16 << (depth - 8), most, 219 << (depth - 8), most);
  return fmt::format("lutrgb=r='{c}':g='{c}':b='{c}'", fmt::arg("c", curve));
}

}  // namespace

void PictureMender::mend(AVFrame& frame, const VideoStream& video) {
  note_.clear();
  if (is_on_device(frame)) return;
  const PictureFacts facts = picture_facts(frame);
  const auto format = static_cast<AVPixelFormat>(frame.format);
  if (facts.opaque || is_dib_of_32_bits(video)) {
    frame.format = without_alpha(format);
    if (format == AV_PIX_FMT_PAL8) run("format=rgb24", frame);
  }
  if (facts.cmyk && (format == AV_PIX_FMT_YUVA444P || format == AV_PIX_FMT_YUVA420P)) {
    frame.color_range = AVCOL_RANGE_JPEG;
    run(cmyk_to_rgb(), frame);
    frame.colorspace = AVCOL_SPC_RGB;
    note_ = "four components without Adobe's marker: read as CMYK, as libjpeg does";
  }
  if (facts.color.any()) {
    frame.color_primaries = static_cast<AVColorPrimaries>(facts.color.primaries);
    frame.color_trc = static_cast<AVColorTransferCharacteristic>(facts.color.transfer);
    frame.color_range = facts.color.full ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
  }
  if (is_limited_rgb(frame)) {
    const int depth = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format))->comp[0].depth;
    frame.color_range = AVCOL_RANGE_JPEG;
    run(expand_rgb(depth), frame);
    frame.color_range = AVCOL_RANGE_JPEG;
    note_ = "RGB is tagged limited: expanded to the full range";
  }
}

// One in, one out.
void PictureMender::run(const std::string& filters, AVFrame& frame) {
  if (!graph_ || filters_ != filters || width_ != frame.width || height_ != frame.height || format_ != frame.format) {
    graph_ = std::make_unique<FilterGraph>(filters, frame, AVRational{0, 1}, 1);
    filters_ = filters;
    width_ = frame.width;
    height_ = frame.height;
    format_ = frame.format;
  }
  // Not every filter hands on what a frame carries besides its samples.
  const AvFramePtr carried(av_frame_alloc());
  if (!carried) throw std::bad_alloc();
  int code = av_frame_copy_props(carried.get(), &frame);
  frame.pts = AV_NOPTS_VALUE;
  if (code >= 0) code = graph_->push(&frame);
  if (code >= 0) code = graph_->pull(&frame);
  if (code >= 0) code = av_frame_copy_props(&frame, carried.get());
  if (code >= 0) return;
  throw InputError(fmt::format("converting by '{}': {}", filters, av_error_text(code)), Hint::kNone, errno_of(code));
}

}  // namespace saccade
