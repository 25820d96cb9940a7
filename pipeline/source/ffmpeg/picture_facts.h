// What a coded picture says of its samples and FFmpeg's decoder does not pass on.
#pragma once

extern "C" {
#include <libavformat/avformat.h>
#include <libavutil/frame.h>
}

namespace saccade {

// Note [Picture facts]
// What some decoders give has a meaning that stands in the header alone:
// - TGA: 32 bits with 0 attribute bits in the descriptor have no alpha (Truevision TGA 2.0, field 5.6);
// - BMP: the fourth byte of BI_RGB is unused. ICO files store the same header with alpha;
// - JPEG: four components without Adobe's marker are plain CMYK (libjpeg, jdapimin.c); FFmpeg gives YUV with alpha;
// - JPEG, PNG, WebP and TIFF: tag 274 of EXIF says which way up the picture is. FFmpeg reads it in JPEG alone, and
// gives
//   it up where any other tag is damaged; from FFmpeg 8 on in all four;
// - PNG: the chunk cICP (PNG, third edition, 11.3.2.6) says what its RGB means, PQ and HLG among it, and overrides the
//   other chunks on colour. FFmpeg reads it from 6.1 on;
// - TIFF: the decoder gives the first page of several.
//
// What was read from a packet travels in its side data, which decoders copy to their frames, on any of their threads;
// PNG's colour in a chunk tEXt, since that decoder drops such side data.
// The orientation travels as the display matrix that a frame would have from FFmpeg. EXIF that was read is hidden from
// JPEG's and WebP's decoder: it complains of what it can't read, which does not make a damaged picture.
struct ColorCode {  // numbers of ITU-T H.273
  int primaries = AVCOL_PRI_UNSPECIFIED;
  int transfer = AVCOL_TRC_UNSPECIFIED;
  bool full = true;
  bool any() const { return transfer != AVCOL_TRC_UNSPECIFIED; }
};

struct PictureFacts {
  bool opaque = false;  // the samples called alpha are unused
  bool cmyk = false;
  int pages = 1;
  ColorCode color;
};

// Reads the header of a packet, a few bytes, and attaches what it says. Nothing for other codecs. Throws bad_alloc.
void attach_picture_facts(AVPacket& packet, const AVCodecParameters& codec, const AVInputFormat& container);

// Of a decoded frame; nothing attached: all false.
PictureFacts picture_facts(const AVFrame& frame);

}  // namespace saccade
