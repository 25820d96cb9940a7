// What a coded picture says of its samples and FFmpeg's decoder does not pass on.
#pragma once

extern "C" {
#include <libavformat/avformat.h>
#include <libavutil/frame.h>
}

namespace saccade {

// Note [Picture facts]
// Three decoders give samples whose meaning stands in the header alone:
// - TGA: 32 bits with 0 attribute bits in the descriptor have no alpha (Truevision TGA 2.0, field 5.6);
// - BMP: the fourth byte of BI_RGB is unused. ICO files store the same header with alpha;
// - JPEG: four components without Adobe's marker are plain CMYK (libjpeg, jdapimin.c); FFmpeg gives YUV with alpha.
//
// What was read from a packet travels in its side data, which decoders copy to their frames, on any of their threads.
struct PictureFacts {
  bool opaque = false;  // the samples called alpha are unused
  bool cmyk = false;
};

// Reads the header of a TGA, BMP or JPEG packet, a few bytes, and attaches what it says. Nothing for other codecs.
void attach_picture_facts(AVPacket& packet, const AVCodecParameters& codec, const AVInputFormat& container);

// Of a decoded frame; nothing attached: all false.
PictureFacts picture_facts(const AVFrame& frame);

}  // namespace saccade
