#include "pipeline/source/tags/ogg_links.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <string_view>

namespace saccade {
namespace {

constexpr std::uint8_t kTheoraHeader = 0x80;   // and up: in the first byte, which is less in a picture
constexpr std::uint8_t kTheoraComment = 0x81;  // Theora specification 6.1
constexpr std::string_view kVp8 = "OVP80";     // of both of VP8's headers

std::string_view bytes_of(const AVPacket& packet) {
  return {reinterpret_cast<const char*>(packet.data), static_cast<std::size_t>(std::max(packet.size, 0))};
}

struct OggPage {
  std::int64_t bytes = 0;
  std::uint8_t flags = 0;
};

enum class PageRead : std::uint8_t { kNone, kCut, kWhole };

// The page at `at` (RFC 3533, section 6): "OggS", version, flags, 20 bytes, the number of segments, their lengths, the
// segments. kCut: the file ends inside it.
PageRead read_page(AVIOContext& io, std::int64_t at, OggPage& page) {
  constexpr int kHeader = 27;
  std::array<std::uint8_t, kHeader> header = {};
  std::array<std::uint8_t, 255> lengths = {};
  if (avio_seek(&io, at, SEEK_SET) < 0) return PageRead::kNone;
  const int read = avio_read(&io, header.data(), kHeader);
  if (read < 4 || std::memcmp(header.data(), "OggS", 4) != 0) return PageRead::kNone;
  const int segments = header[kHeader - 1];
  if (read != kHeader || avio_read(&io, lengths.data(), segments) != segments) return PageRead::kCut;
  page.flags = header[5];
  page.bytes = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{kHeader} + segments);
  return at + page.bytes <= avio_size(&io) ? PageRead::kWhole : PageRead::kCut;
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

std::optional<std::int64_t> next_ogg_link(AVIOContext& io, std::int64_t from) {
  constexpr std::uint8_t kBegins = 2;
  OggPage page;
  for (std::int64_t at = from; read_page(io, at, page) == PageRead::kWhole; at += page.bytes) {
    if (at > from && (page.flags & kBegins) != 0) return at;
  }
  return std::nullopt;
}

bool last_ogg_page_is_cut(AVIOContext& io, std::int64_t from) {
  OggPage page;
  PageRead read = PageRead::kWhole;
  for (std::int64_t at = from; (read = read_page(io, at, page)) == PageRead::kWhole; at += page.bytes) {
  }
  return read == PageRead::kCut;
}

}  // namespace saccade
