#include "pipeline/source/convert/plan.h"

#include <fmt/format.h>

#include <array>

#include "pipeline/error.h"
#include "pipeline/source/convert/color_tags.h"
#include "pipeline/source/convert/filter_graph.h"

extern "C" {
#include <libavutil/pixdesc.h>
}

namespace saccade {
namespace {

constexpr const char* kSwsFlags = "flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp:sws_dither=none";

enum class Family : std::uint8_t { kRgb, kGray, kYuv };

struct Kind {
  Family family = Family::kYuv;
  int depth = 8;
  int log2_w = 0;  // chroma subsampling
  int log2_h = 0;
  bool alpha = false;
  bool floating = false;
  bool subsampled() const { return log2_w > 0 || log2_h > 0; }
};

Kind kind_of(AVPixelFormat format) {
  const AVPixFmtDescriptor& desc = *av_pix_fmt_desc_get(format);
  Kind kind;
  const bool mono = format == AV_PIX_FMT_MONOWHITE || format == AV_PIX_FMT_MONOBLACK;
  const auto rgb_like = AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BAYER;
  if (mono || (desc.flags & static_cast<std::uint64_t>(rgb_like)) != 0 || format == AV_PIX_FMT_XYZ12LE ||
      format == AV_PIX_FMT_XYZ12BE) {
    kind.family = Family::kRgb;
  } else if (desc.nb_components <= 2) {
    kind.family = Family::kGray;
  }
  kind.depth = desc.comp[0].depth;
  kind.log2_w = desc.log2_chroma_w;
  kind.log2_h = desc.log2_chroma_h;
  kind.alpha = (desc.flags & AV_PIX_FMT_FLAG_ALPHA) != 0;
  kind.floating = (desc.flags & AV_PIX_FMT_FLAG_FLOAT) != 0;
  return kind;
}

// The planar little-endian format of a family; depths are rounded up to one that FFmpeg has.
AVPixelFormat planar_format(const Kind& kind) {
  const auto named = [](const std::string& name) { return av_get_pix_fmt(name.c_str()); };
  const int depth = kind.floating ? 16 : kind.depth;
  if (kind.family == Family::kRgb) {
    const std::string base = kind.alpha ? "gbrap" : "gbrp";
    if (depth <= 8) return named(base);
    return named(fmt::format("{}{}le", base, depth <= 10 ? 10 : depth <= 12 ? 12 : 16));
  }
  const int stored = depth <= 9 ? 9 : depth <= 10 ? 10 : depth <= 12 ? 12 : depth <= 14 ? 14 : 16;
  if (kind.family == Family::kGray && !kind.alpha)
    return depth <= 8 ? AV_PIX_FMT_GRAY8 : named(fmt::format("gray{}le", stored));
  static constexpr std::array<std::array<const char*, 3>, 3> kSampling = {
      {{"444", "440", ""}, {"422", "420", ""}, {"411", "", "410"}}};
  const std::string sampling =
      kind.family == Family::kGray
          ? "444"
          : kSampling[static_cast<std::size_t>(kind.log2_w)][static_cast<std::size_t>(kind.log2_h)];
  const std::string base = (kind.alpha ? "yuva" : "yuv") + sampling + "p";
  if (depth <= 8) return named(base);
  for (const int d : {stored, 10, 12, 16}) {
    if (d < stored) continue;
    const AVPixelFormat found = named(fmt::format("{}{}le", base, d));
    if (found != AV_PIX_FMT_NONE) return found;
  }
  return AV_PIX_FMT_YUV444P16LE;
}

const char* name_of(AVPixelFormat format) { return av_get_pix_fmt_name(format); }

AVPixelFormat natural_target(const FrameTraits& in, const Kind& kind) {
  if (kind.alpha || kind.family == Family::kRgb) return AV_PIX_FMT_RGBA;
  if (canonical_layout(in.format) && is_representable(in.space)) return in.format;
  if (kind.family == Family::kGray) return planar_format(kind);
  if (!is_representable(in.space)) return AV_PIX_FMT_RGBA;
  if (kind.depth <= 8 && !kind.subsampled()) return AV_PIX_FMT_RGBA;
  Kind target = kind;
  target.log2_w = target.log2_h = 1;
  return planar_format(target);
}

AVPixelFormat with_chroma(AVPixelFormat gray) {
  const int depth = av_pix_fmt_desc_get(gray)->comp[0].depth;
  return depth <= 8 ? AV_PIX_FMT_YUV420P : av_get_pix_fmt(fmt::format("yuv420p{}le", depth).c_str());
}

bool is_gray(AVPixelFormat format) { return kind_of(format).family == Family::kGray; }

// zscale's names for matrices are incomplete and one is misspelt; its numbers are those of H.273 and of AVColorSpace.
int zimg_matrix(AVColorSpace space) { return static_cast<int>(space); }

const char* sws_matrix(AVColorSpace space) {
  switch (space) {
    case AVCOL_SPC_BT709:
      return "bt709";
    case AVCOL_SPC_FCC:
      return "fcc";
    case AVCOL_SPC_SMPTE240M:
      return "smpte240m";
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL:
      return "bt2020";
    default:
      return "smpte170m";
  }
}

const char* range_word(AVColorRange range) { return range == AVCOL_RANGE_JPEG ? "pc" : "tv"; }

const char* zimg_site(AVChromaLocation site) {
  switch (site) {
    case AVCHROMA_LOC_CENTER:
      return "center";
    case AVCHROMA_LOC_TOPLEFT:
      return "topleft";
    case AVCHROMA_LOC_TOP:
      return "top";
    case AVCHROMA_LOC_BOTTOMLEFT:
      return "bottomleft";
    case AVCHROMA_LOC_BOTTOM:
      return "bottom";
    default:
      return "left";
  }
}

// Builds the chain step by step, knowing what it has in hand.
class Chain {
 public:
  Chain(const FrameTraits& in, bool try_zscale)
      : format_(in.format),
        width_(in.width),
        height_(in.height),
        space_(in.space),
        range_(in.range),
        site_(in.site),
        try_zscale_(try_zscale) {}

  // Same samples in another order: packing, byte order, palette to RGB.
  void repack(AVPixelFormat to) {
    if (to == format_) return;
    add(fmt::format("scale={}:in_range={r}:out_range={r}", kSwsFlags, fmt::arg("r", range_word(range_))));
    add(fmt::format("format={}", name_of(to)));
    format_ = to;
  }

  // Another sampling, depth, size, or matrix.
  void resample(AVPixelFormat to, int width, int height, AVColorSpace space, AVColorRange range) {
    const bool zimg =
        try_zscale_ && even_enough(format_, width_, height_) && even_enough(to, width, height) && have_filter("zscale");
    if (zimg) {
      add(fmt::format("zscale=w={}:h={}:filter=bicubic:min={}:m={}:rin={}:r={}:cin={s}:c={s}", width, height,
                      zimg_matrix(space_), zimg_matrix(space), range_word(range_), range_word(range),
                      fmt::arg("s", zimg_site(site_))));
    } else {
      std::string matrices;
      if (space_ != AVCOL_SPC_RGB) matrices += fmt::format(":in_color_matrix={}", sws_matrix(space_));
      if (space != AVCOL_SPC_RGB) matrices += fmt::format(":out_color_matrix={}", sws_matrix(space));
      add(fmt::format("scale=w={}:h={}:{}{}:in_range={}:out_range={}", width, height, kSwsFlags, matrices,
                      range_word(range_), range_word(range)));
    }
    add(fmt::format("format={}", name_of(to)));
    format_ = to;
    width_ = width;
    height_ = height;
    space_ = space;
    range_ = range;
  }

  // PQ and HLG to BT.709 SDR: linear light at 100 cd/m2, primaries, Hable's curve, BT.709's transfer. Alpha stays where
  // `to` has it.
  void tone_map(AVPixelFormat to, AVChromaLocation site) {
    const Kind wanted = kind_of(to);
    const bool rgb = wanted.family == Family::kRgb;
    add(fmt::format("zscale=min={}:rin={}:cin={}:t=linear:npl=100,format={},zscale=p=bt709,tonemap=hable:desat=0",
                    zimg_matrix(space_), range_word(range_), zimg_site(site_),
                    wanted.alpha ? "gbrapf32le" : "gbrpf32le"));
    add(fmt::format("zscale=t=bt709:m={}:r={}:c={}", zimg_matrix(rgb ? AVCOL_SPC_RGB : AVCOL_SPC_BT709),
                    rgb ? "pc" : "tv", zimg_site(site)));
    add(fmt::format("format={}", name_of(to)));
    format_ = to;
    site_ = site;
    space_ = rgb ? AVCOL_SPC_RGB : AVCOL_SPC_BT709;
    range_ = rgb ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
  }

  // In 8-bit planar RGB with alpha: colour times alpha, then alpha away.
  void composite_over_black() {
    add("premultiply=inplace=1");
    add(fmt::format("scale={},format=gbrp", kSwsFlags));
    format_ = AV_PIX_FMT_GBRP;
  }

  void add(const std::string& filter) {
    if (filter.empty()) return;
    if (!filters_.empty()) filters_ += ',';
    filters_ += filter;
  }

  // zimg refuses subsampled pictures of odd size.
  static bool even_enough(AVPixelFormat format, int width, int height) {
    const AVPixFmtDescriptor& desc = *av_pix_fmt_desc_get(format);
    return width % (1 << desc.log2_chroma_w) == 0 && height % (1 << desc.log2_chroma_h) == 0;
  }

  AVPixelFormat format() const { return format_; }
  AVColorSpace space() const { return space_; }
  AVColorRange range() const { return range_; }
  AVChromaLocation site() const { return site_; }
  int width() const { return width_; }
  int height() const { return height_; }
  const std::string& filters() const { return filters_; }

 private:
  std::string filters_;
  AVPixelFormat format_;
  int width_, height_;
  AVColorSpace space_;
  AVColorRange range_;
  AVChromaLocation site_;
  bool try_zscale_;
};

// RGB in any packing, and YUV that has to become RGB, to RGBA of the wanted size.
void to_rgba(Chain& chain, Kind kind, int width, int height) {
  if (kind.family == Family::kRgb && kind.depth <= 8) {
    chain.repack(AV_PIX_FMT_RGBA);
    if (kind.alpha) chain.repack(AV_PIX_FMT_GBRAP);
  } else if (chain.format() != AV_PIX_FMT_GBRP) {
    if (kind.family == Family::kGray && kind.alpha && kind.depth > 8) kind.depth = 16;
    chain.repack(planar_format(kind));
  }
  const bool resize = chain.width() != width || chain.height() != height;
  const AVPixelFormat planar = kind.alpha ? AV_PIX_FMT_GBRAP : AV_PIX_FMT_GBRP;
  if (resize && kind.family == Family::kRgb && chain.format() != planar) chain.repack(planar);
  if (resize || (chain.format() != planar && chain.format() != AV_PIX_FMT_RGBA)) {
    chain.resample(planar, width, height, AVCOL_SPC_RGB, AVCOL_RANGE_JPEG);
  }
  if (kind.alpha) chain.composite_over_black();
  chain.repack(AV_PIX_FMT_RGBA);
}

// YUV and gray (and RGB, when an earlier frame fixed YUV) to a YUV format of the wanted size.
void to_yuv(Chain& chain, const Kind& kind, AVPixelFormat to, int width, int height, AVColorSpace space,
            AVColorRange range) {
  const bool resize = chain.width() != width || chain.height() != height;
  const Kind wanted = kind_of(to);
  const bool same_samples = kind.family == wanted.family && kind.depth == wanted.depth &&
                            kind.log2_w == wanted.log2_w && kind.log2_h == wanted.log2_h && chain.space() == space &&
                            chain.range() == range;
  if (same_samples && !resize) {
    chain.repack(to);
    return;
  }
  if (kind.family == Family::kRgb && kind.depth <= 8) chain.repack(AV_PIX_FMT_RGBA);
  Kind opaque = kind;
  opaque.alpha = false;
  chain.repack(planar_format(opaque));
  const AVPixelFormat planar = planar_format(wanted);
  chain.resample(planar, width, height, space, range);
  chain.repack(to);
}

void check_readable(const FrameTraits& in) {
  const AVPixFmtDescriptor* desc = av_pix_fmt_desc_get(in.format);
  if (desc == nullptr || (desc->flags & AV_PIX_FMT_FLAG_HWACCEL) != 0) {
    throw InputError(fmt::format("pixel format '{}' can't be read", desc != nullptr ? desc->name : "?"),
                     Hint::kConvertFormat);
  }
}

}  // namespace

std::optional<PixelLayout> canonical_layout(AVPixelFormat format) {
  switch (format) {
    case AV_PIX_FMT_YUV420P:
      return PixelLayout::kI420;
    case AV_PIX_FMT_NV12:
      return PixelLayout::kNv12;
    case AV_PIX_FMT_YUV420P9LE:
    case AV_PIX_FMT_YUV420P10LE:
    case AV_PIX_FMT_YUV420P12LE:
    case AV_PIX_FMT_YUV420P14LE:
    case AV_PIX_FMT_YUV420P16LE:
      return PixelLayout::kI420p16;
    case AV_PIX_FMT_P010LE:
    case AV_PIX_FMT_P016LE:
      return PixelLayout::kP016;
    case AV_PIX_FMT_RGBA:
      return PixelLayout::kRgba8;
    default:
      return std::nullopt;
  }
}

ConversionPlan plan_conversion(const FrameTraits& in, const std::optional<OutputFormat>& target, bool try_zscale) {
  check_readable(in);
  const Kind kind = kind_of(in.format);
  ConversionPlan plan;
  const AVPixelFormat natural = natural_target(in, kind);
  AVPixelFormat to = natural;
  int width = in.width;
  int height = in.height;
  AVColorSpace space = in.space;
  AVColorRange range = in.range;
  if (target) {
    const bool keeps_gray = is_gray(natural) && with_chroma(natural) == target->format;
    if (!keeps_gray) to = target->format;
    width = in.orientation.transpose ? target->height : target->width;
    height = in.orientation.transpose ? target->width : target->height;
    if (kind.family == Family::kRgb || !is_representable(in.space)) {
      space = target->space;
      range = target->range;
    }
  }
  const bool to_rgb = to == AV_PIX_FMT_RGBA;
  Chain chain(in, try_zscale);
  if (is_hdr(in.transfer) && !(try_zscale && have_filter("zscale"))) {
    plan.notes.push_back(fmt::format("HDR transfer shown as it is: {}, so nothing is tone-mapped",
                                     try_zscale ? "this libavfilter has no zscale" : "zscale refuses this picture"));
  } else if (is_hdr(in.transfer)) {
    Kind source = kind;
    if (!Chain::even_enough(AV_PIX_FMT_YUV420P, in.width, in.height)) source.log2_w = source.log2_h = 0;
    if (kind.family == Family::kRgb && kind.depth <= 8) chain.repack(AV_PIX_FMT_RGBA);
    chain.repack(planar_format(source));
    const bool through_rgb = !source.subsampled() || to_rgb;
    const AVPixelFormat rgb = kind.alpha ? AV_PIX_FMT_GBRAP : AV_PIX_FMT_GBRP;
    chain.tone_map(through_rgb ? rgb : AV_PIX_FMT_YUV420P10LE, AVCHROMA_LOC_LEFT);
    if (!target) to = through_rgb ? AV_PIX_FMT_RGBA : AV_PIX_FMT_YUV420P10LE;
    space = AVCOL_SPC_BT709;
    range = AVCOL_RANGE_MPEG;
    plan.notes.push_back(fmt::format("{} is tone-mapped to BT.709 (Hable, 100 cd/m2)",
                                     in.transfer == AVCOL_TRC_SMPTE2084 ? "HDR (PQ)" : "HDR (HLG)"));
  }
  const Kind held = chain.format() == in.format ? kind : kind_of(chain.format());
  if (to == AV_PIX_FMT_RGBA) {
    to_rgba(chain, held, width, height);
  } else {
    to_yuv(chain, held, to, width, height, space, range);
  }
  if (kind.alpha) plan.notes.push_back("alpha is composited over black");
  if (is_gray(to)) plan.notes.push_back("gray gets neutral chroma planes");
  if (to != in.format) plan.notes.push_back(fmt::format("{} is converted to {}", name_of(in.format), name_of(to)));
  chain.add(in.orientation.filters());

  plan.filters = chain.filters();
  plan.filtered = to;
  plan.canonical = is_gray(to) ? with_chroma(to) : to;
  plan.space = chain.space();
  plan.range = chain.range();
  plan.site = chain.site();
  plan.width = width;
  plan.height = height;
  return plan;
}

}  // namespace saccade
