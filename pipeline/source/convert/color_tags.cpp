#include "pipeline/source/convert/color_tags.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "pipeline/source/ffmpeg/hardware.h"

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/pixdesc.h>
}

namespace saccade {
namespace {

AVPixelFormat without_j(AVPixelFormat format) {
  switch (format) {
    case AV_PIX_FMT_YUVJ420P:
      return AV_PIX_FMT_YUV420P;
    case AV_PIX_FMT_YUVJ422P:
      return AV_PIX_FMT_YUV422P;
    case AV_PIX_FMT_YUVJ444P:
      return AV_PIX_FMT_YUV444P;
    case AV_PIX_FMT_YUVJ440P:
      return AV_PIX_FMT_YUV440P;
    case AV_PIX_FMT_YUVJ411P:
      return AV_PIX_FMT_YUV411P;
    default:
      return format;
  }
}

// Site shifts of H.273 figure 2 (chroma sample location types): how far the sample lies left of, above, the centre of
// its 2x2 block, in chroma texels.
std::pair<float, float> site_shift(AVChromaLocation site) {
  switch (site) {
    case AVCHROMA_LOC_CENTER:
      return {0.0f, 0.0f};
    case AVCHROMA_LOC_TOPLEFT:
      return {0.25f, 0.25f};
    case AVCHROMA_LOC_TOP:
      return {0.0f, 0.25f};
    case AVCHROMA_LOC_BOTTOMLEFT:
      return {0.25f, -0.25f};
    case AVCHROMA_LOC_BOTTOM:
      return {0.0f, -0.25f};
    default:
      return {0.25f, 0.0f};
  }
}

// Mirrored, chroma sample i of n becomes n - 1 - i, and position p becomes size - p; an odd size leaves half a texel.
float mirrored_shift(float shift, int size) { return static_cast<float>(size & 1) * 0.5f - shift; }

// Some decoders hand on a bitstream's codes that no table knows. Read as a number: such a value is none of Tag's.
template <class Tag>
void drop_unknown(Tag& tag, Tag end, Tag unspecified) {
  static_assert(sizeof(Tag) == sizeof(unsigned));
  unsigned code = 0;
  std::memcpy(&code, &tag, sizeof code);
  if (code >= static_cast<unsigned>(end)) tag = unspecified;
}

}  // namespace

bool is_hdr(AVColorTransferCharacteristic transfer) {
  return transfer == AVCOL_TRC_SMPTE2084 || transfer == AVCOL_TRC_ARIB_STD_B67;
}

ResolvedTags resolve_tags(AVFrame& frame, bool gray_is_limited) {
  drop_unknown(frame.color_range, AVCOL_RANGE_NB, AVCOL_RANGE_UNSPECIFIED);
  drop_unknown(frame.colorspace, AVCOL_SPC_NB, AVCOL_SPC_UNSPECIFIED);
  drop_unknown(frame.color_trc, AVCOL_TRC_NB, AVCOL_TRC_UNSPECIFIED);
  drop_unknown(frame.color_primaries, AVCOL_PRI_NB, AVCOL_PRI_UNSPECIFIED);
  drop_unknown(frame.chroma_location, AVCHROMA_LOC_NB, AVCHROMA_LOC_UNSPECIFIED);
  const AVPixelFormat original = sample_format(frame);
  const AVPixelFormat format = without_j(original);
  const bool is_j = format != original;
  if (!is_on_device(frame)) frame.format = format;
  const AVPixFmtDescriptor* desc = av_pix_fmt_desc_get(format);
  const bool is_rgb = desc == nullptr || (desc->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL)) != 0;
  const bool is_gray = !is_rgb && desc->nb_components <= 2;

  ResolvedTags tags;
  tags.range_tagged = is_rgb || is_j || frame.color_range != AVCOL_RANGE_UNSPECIFIED;
  if (is_rgb || is_j) {
    frame.color_range = AVCOL_RANGE_JPEG;
  } else if (frame.color_range == AVCOL_RANGE_UNSPECIFIED) {
    frame.color_range = is_gray && !gray_is_limited ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
  }

  const bool nonsense = frame.colorspace == AVCOL_SPC_UNSPECIFIED || frame.colorspace == AVCOL_SPC_RGB ||
                        frame.colorspace == AVCOL_SPC_RESERVED;
  tags.matrix_tagged = is_rgb || !nonsense;
  if (is_rgb) {
    frame.colorspace = AVCOL_SPC_RGB;
  } else if (nonsense) {
    frame.colorspace =
        default_matrix(frame.width, frame.height) == ColorMatrix::kBt709 ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
  }
  const bool no_primaries = frame.color_primaries == AVCOL_PRI_UNSPECIFIED ||
                            frame.color_primaries == AVCOL_PRI_RESERVED0 || frame.color_primaries == AVCOL_PRI_RESERVED;
  if (is_hdr(frame.color_trc) && no_primaries) frame.color_primaries = AVCOL_PRI_BT2020;
  if (frame.chroma_location == AVCHROMA_LOC_UNSPECIFIED) {
    frame.chroma_location = is_j ? AVCHROMA_LOC_CENTER : AVCHROMA_LOC_LEFT;
  }
  return tags;
}

std::string wide_gamut_note(const AVFrame& frame) {
  const bool is_p3 = frame.color_primaries == AVCOL_PRI_SMPTE431 || frame.color_primaries == AVCOL_PRI_SMPTE432;
  const bool is_wide = is_p3 || frame.color_primaries == AVCOL_PRI_BT2020;
  if (!is_wide || is_hdr(frame.color_trc)) return {};
  // zscale has to know a transfer.
  return fmt::format(
      "SDR with the primaries of {} is not converted: read as BT.709, its colours are paler; "
      "the filter zscale={}p=bt709 converts it",
      is_p3 ? "P3" : "BT.2020", frame.color_trc == AVCOL_TRC_UNSPECIFIED ? "tin=bt709:t=bt709:" : "");
}

bool is_representable(AVColorSpace space) {
  switch (space) {
    case AVCOL_SPC_BT709:
    case AVCOL_SPC_BT470BG:
    case AVCOL_SPC_SMPTE170M:
    case AVCOL_SPC_FCC:
    case AVCOL_SPC_SMPTE240M:
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL:
      return true;
    default:
      return false;
  }
}

ColorMatrix to_matrix(AVColorSpace space) {
  switch (space) {
    case AVCOL_SPC_BT709:
      return ColorMatrix::kBt709;
    case AVCOL_SPC_SMPTE240M:
      return ColorMatrix::kSmpte240m;
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL:
      return ColorMatrix::kBt2020;
    default:
      return ColorMatrix::kBt601;
  }
}

ColorSpec to_color_spec(const ColorTags& tags, AVPixelFormat canonical, int width, int height, Orientation rotation) {
  ColorSpec spec;
  const AVPixFmtDescriptor* desc = av_pix_fmt_desc_get(canonical);
  if ((desc->flags & AV_PIX_FMT_FLAG_RGB) != 0) {
    return {ColorMatrix::kBt709, ColorRange::kFull, 8, 0.0f, 0.0f};
  }
  spec.matrix = to_matrix(tags.space);
  spec.range = tags.range == AVCOL_RANGE_JPEG ? ColorRange::kFull : ColorRange::kLimited;
  spec.depth_bits = static_cast<std::uint8_t>(desc->comp[0].depth);
  auto [x, y] = site_shift(tags.site);
  x += tags.offset.left ? 0.5f : 0.0f;
  y += tags.offset.top ? 0.5f : 0.0f;
  if (rotation.transpose) {
    std::swap(x, y);
    std::swap(width, height);
  }
  spec.site_shift_x = rotation.hflip ? mirrored_shift(x, width) : x;
  spec.site_shift_y = rotation.vflip ? mirrored_shift(y, height) : y;
  return spec;
}

}  // namespace saccade
