#include "pipeline/source/tags/ogg_links.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace saccade {
namespace {

constexpr std::uint8_t kTheoraHeader = 0x80;   // and up: in the first byte, which is less in a picture
constexpr std::uint8_t kTheoraComment = 0x81;  // Theora specification 6.1
constexpr std::string_view kVp8 = "OVP80";     // of both of VP8's headers

std::string_view bytes_of(const AVPacket& packet) {
  return {reinterpret_cast<const char*>(packet.data), static_cast<std::size_t>(std::max(packet.size, 0))};
}

}  // namespace

bool is_ogg_header(const AVPacket& packet, AVCodecID codec) {
  const std::string_view bytes = bytes_of(packet);
  if (codec == AV_CODEC_ID_VP8) return bytes.starts_with(kVp8);
  return codec == AV_CODEC_ID_THEORA && bytes.size() > 7 && packet.data[0] >= kTheoraHeader &&
         bytes.substr(1, 6) == "theora";
}

// VP8's pictures say all themselves.
bool has_ogg_header(const AVCodecParameters& codec, const AVPacket& header) {
  if (codec.codec_id == AV_CODEC_ID_VP8 || header.data[0] == kTheoraComment) return true;
  const std::string_view known(reinterpret_cast<const char*>(codec.extradata),
                               static_cast<std::size_t>(codec.extradata_size));
  return known.find(bytes_of(header)) != std::string_view::npos;
}

// A page (RFC 3533, section 6): "OggS", version, flags, 20 bytes, the number of segments, their lengths, the segments.
std::optional<std::int64_t> next_ogg_link(AVIOContext& io, std::int64_t from) {
  constexpr int kHeader = 27;
  constexpr std::uint8_t kBegins = 2;
  std::array<std::uint8_t, kHeader> header;
  std::array<std::uint8_t, 255> lengths;
  for (std::int64_t at = from; avio_seek(&io, at, SEEK_SET) >= 0;) {
    if (avio_read(&io, header.data(), kHeader) != kHeader || std::memcmp(header.data(), "OggS", 4) != 0) break;
    if (at > from && (header[5] & kBegins) != 0) return at;
    const int segments = header[26];
    if (avio_read(&io, lengths.data(), segments) != segments) break;
    at += kHeader + segments;
    for (int i = 0; i < segments; ++i) at += lengths[static_cast<std::size_t>(i)];
  }
  return std::nullopt;
}

}  // namespace saccade
