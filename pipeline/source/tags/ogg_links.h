// Ogg streams that follow each other in one file.
#pragma once

#include <cstdint>
#include <optional>

#include "pipeline/source/ffmpeg/av.h"

namespace saccade {

// Note [Ogg chains]
// An Ogg file may hold several links one after the other, each with streams, headers and times of its own (RFC 3533,
// section 4): a radio's recordings, or files joined by `cat`. FFmpeg hands out a later link's headers as if they were
// pictures, and refuses one that has several streams. So a link is opened as a file of its own, from its first page on,
// with a decoder of its own; its times go on where those of the link before ended. Only files on disk can be opened so:
// a pipe and the network go on without the headers, if they are the ones that the decoder has.

// Whether this packet is a header, which only a later link's is.
bool is_ogg_header(const AVPacket& packet, AVCodecID codec);

// Whether a decoder with these parameters needs nothing of this header.
bool has_ogg_header(const AVCodecParameters& codec, const AVPacket& header);

// Where the next link begins, after the page at `from`. Moves the read position; needs a seekable file.
std::optional<std::int64_t> next_ogg_link(AVIOContext& io, std::int64_t from);

// Whether the file ends inside a page, after the one at `from`. As next_ogg_link().
bool last_ogg_page_is_cut(AVIOContext& io, std::int64_t from);

}  // namespace saccade
