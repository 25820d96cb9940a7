// Which canonical format a picture is brought to, and by which filters.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/frame_view.h"
#include "pipeline/source/convert/color_tags.h"
#include "pipeline/source/ffmpeg/orientation.h"

extern "C" {
#include <libavutil/pixfmt.h>
}

namespace saccade {

// All of a decoded frame that decides its conversion; tags as resolve_tags() leaves them.
struct FrameTraits {
  AVPixelFormat format = AV_PIX_FMT_NONE;
  int width = 0;
  int height = 0;
  AVColorSpace space = AVCOL_SPC_BT709;
  AVColorRange range = AVCOL_RANGE_MPEG;
  AVChromaLocation site = AVCHROMA_LOC_LEFT;
  AVColorTransferCharacteristic transfer = AVCOL_TRC_UNSPECIFIED;
  Orientation orientation;
  ChromaOffset chroma_offset;
  bool operator==(const FrameTraits&) const = default;
};

// What the first frame fixed for all later ones.
struct OutputFormat {
  AVPixelFormat format = AV_PIX_FMT_NONE;  // canonical
  int width = 0;                           // as displayed
  int height = 0;
  AVColorSpace space = AVCOL_SPC_BT709;
  AVColorRange range = AVCOL_RANGE_MPEG;
};

struct ConversionPlan {
  std::string filters;                        // FFmpeg's; empty: nothing to do
  AVPixelFormat filtered = AV_PIX_FMT_NONE;   // what the filters give
  AVPixelFormat canonical = AV_PIX_FMT_NONE;  // after neutral chroma was attached to gray; else as `filtered`
  AVColorSpace space = AVCOL_SPC_BT709;       // tags of the result
  AVColorRange range = AVCOL_RANGE_MPEG;
  AVChromaLocation site = AVCHROMA_LOC_LEFT;
  int width = 0;  // of the result before the rotation
  int height = 0;
  std::vector<std::string> notes;
};

// Note [Conversions]
// 4:2:0 stays as it is. Gray keeps its samples and range and gets neutral chroma planes. Other 8-bit YUV becomes 4:2:0,
// but 4:4:4, like everything RGB, becomes RGBA (8-bit 4:2:0 would throw its chroma away); deeper YUV becomes 4:2:0 of
// the same depth. PQ and HLG are tone-mapped to BT.709 first; primaries of SDR stay. Alpha is composited over black.
// zimg converts (zscale) where it can: it knows range and siting at every depth. It takes no packed formats and no odd
// sizes with subsampled chroma: those go through swscale. `target`: convert and scale to exactly that. `try_zscale`:
// use zimg where libavfilter has it. Throws InputError for formats that can't be read.
ConversionPlan plan_conversion(const FrameTraits& in, const std::optional<OutputFormat>& target, bool try_zscale);

// The layout a canonical format has; nullopt for every other format.
std::optional<PixelLayout> canonical_layout(AVPixelFormat format);

}  // namespace saccade
