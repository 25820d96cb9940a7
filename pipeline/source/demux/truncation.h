// Whether a file is shorter than it says.
#pragma once

#include <cstdint>

struct AVFormatContext;
struct AVStream;

namespace saccade {

// Packets of a stream that an index in the header lists; 0 where a container has none.
std::int64_t promised_packets(const AVFormatContext& format, const AVStream& stream);

// After the last packet: a Matroska segment longer than the file (RFC 8794, RFC 9559), a transport stream that ends
// inside a packet (ISO/IEC 13818-1 2.4.3), bytes of a picture left over in YUV4MPEG. Moves the read position; needs a
// seekable file.
bool ends_too_early(AVFormatContext& format, std::int64_t packets_end_byte);

}  // namespace saccade
