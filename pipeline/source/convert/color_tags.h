// The colour tags of a decoded frame, with the unknown ones decided.
#pragma once

#include <string>

#include "kernels/color.h"
#include "pipeline/source/ffmpeg/orientation.h"

extern "C" {
#include <libavutil/pixfmt.h>
}

struct AVFrame;

namespace saccade {

// A crop at an odd place leaves subsampled chroma half a texel further to the left, or the top.
struct ChromaOffset {
  bool left = false;
  bool top = false;
  bool operator==(const ChromaOffset&) const = default;
};

// Tags as a conversion leaves them.
struct ColorTags {
  AVColorSpace space = AVCOL_SPC_BT709;
  AVColorRange range = AVCOL_RANGE_MPEG;
  AVChromaLocation site = AVCHROMA_LOC_LEFT;
  ChromaOffset offset;
};

// Which tags the stream itself gave.
struct ResolvedTags {
  bool matrix_tagged = false;
  bool range_tagged = false;
};

bool is_hdr(AVColorTransferCharacteristic transfer);  // PQ, HLG

// Replaces unknown tags by what they default to, and the yuvj formats by their plain twins with full range.
// Matrix: by the frame's size (untagged gray and YUV); range: limited for YUV, full for RGB and for gray unless
// `gray_is_limited` (yuv4mpeg's custom); chroma site: left, centre for full-range JPEG; primaries of PQ and HLG:
// BT.2020 (ITU-R BT.2100).
ResolvedTags resolve_tags(AVFrame& frame, bool gray_is_limited);

// A sentence for SDR whose primaries are wider than BT.709's (BT.2020, DCI-P3, Display P3) and stay; else empty.
std::string wide_gamut_note(const AVFrame& frame);

// Whether ColorMatrix can say it: otherwise the picture has to become RGB.
bool is_representable(AVColorSpace space);
ColorMatrix to_matrix(AVColorSpace space);

// Of a picture in a canonical format. The chroma site rotates along with it.
// `width`, `height`: before the rotation.
ColorSpec to_color_spec(const ColorTags& tags, AVPixelFormat canonical, int width, int height, Orientation rotation);

}  // namespace saccade
