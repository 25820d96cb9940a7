#include "pipeline/source/decode/layers.h"

#include <algorithm>
#include <cstddef>

namespace saccade {
namespace {

constexpr std::size_t kMostPending = 64;  // more than a decoder holds back

// The first bits of an uncompressed header: frame_marker, profile, show_existing_frame, frame_type, show_frame.
bool is_shown(std::uint8_t first) {
  constexpr int kProfile3 = 3;
  const int profile = (first >> 5 & 1) | (first >> 4 & 1) << 1;
  const int shift = profile == kProfile3 ? 1 : 0;  // a reserved bit
  const bool existing = (first >> (3 - shift) & 1) != 0;
  return existing || (first >> (1 - shift) & 1) != 0;
}

std::int64_t stamp(std::int64_t pts, std::int64_t dts) { return pts != AV_NOPTS_VALUE ? pts : dts; }

}  // namespace

int shown_vp9_frames(const std::uint8_t* data, std::size_t size_bytes) {
  if (size_bytes == 0) return 0;
  const std::uint8_t marker = data[size_bytes - 1];
  const auto frames = static_cast<std::size_t>((marker & 7) + 1);
  const auto bytes = static_cast<std::size_t>((marker >> 3 & 3) + 1);
  const std::size_t index_size = 2 + frames * bytes;
  if ((marker & 0xe0) != 0xc0 || size_bytes < index_size || data[size_bytes - index_size] != marker) return 1;
  const std::uint8_t* entry = data + size_bytes - index_size + 1;
  std::size_t at = 0;
  int shown = 0;
  for (std::size_t i = 0; i < frames; ++i) {
    std::size_t length = 0;
    for (std::size_t b = 0; b < bytes; ++b) length |= std::size_t{*entry++} << (8 * b);
    if (length == 0) continue;
    if (length > size_bytes - index_size - at) return 1;
    shown += is_shown(data[at]) ? 1 : 0;
    at += length;
  }
  return shown;
}

void SpatialLayers::note_packet(const AVPacket& packet) {
  const int shown = shown_vp9_frames(packet.data, static_cast<std::size_t>(std::max(packet.size, 0)));
  if (shown < 2) return;
  if (pending_.size() >= kMostPending) pending_.erase(pending_.begin());
  pending_.push_back({stamp(packet.pts, packet.dts), shown});
}

// VP9 frames come out in the order of their packets: what lies before a match has failed.
bool SpatialLayers::hides(const AVFrame& frame) {
  if (pending_.empty()) return false;
  const std::int64_t ts = stamp(frame.pts, frame.pkt_dts);
  const auto found =
      std::find_if(pending_.begin(), pending_.end(), [&](const Picture& picture) { return picture.ts == ts; });
  if (found == pending_.end()) return false;
  pending_.erase(pending_.begin(), found);
  if (--pending_.front().left > 0) return true;
  pending_.erase(pending_.begin());
  return false;
}

}  // namespace saccade
