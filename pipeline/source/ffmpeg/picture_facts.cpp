#include "pipeline/source/ffmpeg/picture_facts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string_view>

extern "C" {
#include <libavutil/dict.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/mem.h>
}

namespace saccade {
namespace {

constexpr const char* kOpaque = "saccade_opaque";
constexpr const char* kCmyk = "saccade_cmyk";

using Bytes = std::span<const std::uint8_t>;

// Truevision TGA 2.0: 18 bytes; true colour or a colour map of 32 bits, with 0 attribute bits.
bool tga_is_opaque(Bytes header) {
  if (header.size() < 18) return false;
  const bool mapped = header[1] == 1;
  const int bits = mapped ? header[7] : header[16];
  return bits == 32 && (header[17] & 0x0f) == 0;
}

// BITMAPFILEHEADER, then a BITMAPINFOHEADER or a longer one: biBitCount, biCompression.
bool bmp_is_opaque(Bytes header) {
  constexpr std::uint32_t kBiRgb = 0;
  if (header.size() < 34 || header[0] != 'B' || header[1] != 'M' || AV_RL32(&header[14]) < 40) return false;
  return AV_RL16(&header[28]) == 32 && AV_RL32(&header[30]) == kBiRgb;
}

// Walks the markers up to the frame header (ITU-T T.81 B.1.1.3).
bool jpeg_is_plain_cmyk(Bytes data) {
  bool adobe = false;
  int components = 0;
  std::size_t at = 2;
  while (at + 4 <= data.size() && data[at] == 0xff) {
    const std::uint8_t marker = data[at + 1];
    if (marker == 0xff) {  // a fill byte
      ++at;
      continue;
    }
    const std::size_t length = AV_RB16(&data[at + 2]);
    const Bytes body = data.subspan(at + 4, std::min(length - std::min<std::size_t>(length, 2), data.size() - at - 4));
    const bool is_frame = marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    if (is_frame && body.size() >= 6) components = body[5];
    if (marker == 0xee && body.size() >= 12 && std::memcmp(body.data(), "Adobe", 5) == 0) adobe = true;
    if (marker == 0xda || length < 2) break;  // the scan begins
    at += 2 + length;
  }
  return components == 4 && !adobe;
}

void attach(AVPacket& packet, const char* name) {
  AVDictionary* facts = nullptr;
  av_dict_set(&facts, name, "1", 0);
  std::size_t size = 0;
  std::uint8_t* packed = av_packet_pack_dictionary(facts, &size);
  av_dict_free(&facts);
  if (packed == nullptr) throw std::bad_alloc();
  if (av_packet_add_side_data(&packet, AV_PKT_DATA_STRINGS_METADATA, packed, size) < 0) {
    av_free(packed);
    throw std::bad_alloc();
  }
}

bool has(const AVFrame& frame, const char* name) { return av_dict_get(frame.metadata, name, nullptr, 0) != nullptr; }

}  // namespace

void attach_picture_facts(AVPacket& packet, const AVCodecParameters& codec, const AVInputFormat& container) {
  const Bytes data(packet.data, static_cast<std::size_t>(std::max(packet.size, 0)));
  switch (codec.codec_id) {
    case AV_CODEC_ID_TARGA:
      if (tga_is_opaque(data)) attach(packet, kOpaque);
      return;
    case AV_CODEC_ID_BMP:
      if (std::string_view(container.name) != "ico" && bmp_is_opaque(data)) attach(packet, kOpaque);
      return;
    case AV_CODEC_ID_MJPEG:
      if (jpeg_is_plain_cmyk(data)) attach(packet, kCmyk);
      return;
    default:
      return;
  }
}

PictureFacts picture_facts(const AVFrame& frame) {
  if (frame.metadata == nullptr) return {};
  return {has(frame, kOpaque), has(frame, kCmyk)};
}

}  // namespace saccade
