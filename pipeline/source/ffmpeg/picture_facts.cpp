#include "pipeline/source/ffmpeg/picture_facts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include "pipeline/source/ffmpeg/exif.h"
#include "pipeline/source/ffmpeg/orientation.h"

extern "C" {
#include <libavutil/bswap.h>
#include <libavutil/crc.h>
#include <libavutil/dict.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/mem.h>
}

namespace saccade {
namespace {

constexpr const char* kOpaque = "saccade_opaque";
constexpr const char* kCmyk = "saccade_cmyk";
constexpr const char* kPages = "saccade_pages";
constexpr const char* kColor = "saccade_color";
constexpr std::size_t kPngHeader = 8 + 25;  // the signature and IHDR

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

bool jpeg_is_plain_cmyk(Bytes data) {
  bool adobe = false;
  int components = 0;
  for (const auto& [marker, body] : jpeg_segments(data)) {
    const bool is_frame = marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    if (is_frame && body.size() >= 6) components = body[5];
    if (marker == 0xee && body.size() >= 12 && std::memcmp(body.data(), "Adobe", 5) == 0) adobe = true;
  }
  return components == 4 && !adobe;
}

void attach(AVPacket& packet, const char* name, int value = 1) {
  AVDictionary* facts = nullptr;
  av_dict_set_int(&facts, name, value, 0);
  std::size_t size = 0;
  std::uint8_t* packed = av_packet_pack_dictionary(facts, &size);
  av_dict_free(&facts);
  if (packed == nullptr) throw std::bad_alloc();
  if (av_packet_add_side_data(&packet, AV_PKT_DATA_STRINGS_METADATA, packed, size) < 0) {
    av_free(packed);
    throw std::bad_alloc();
  }
}

void attach_orientation(AVPacket& packet, int exif) {
  const Orientation orientation = exif_orientation(exif);
  if (orientation.identity()) return;
  const DisplayMatrix matrix = display_matrix(orientation);
  std::uint8_t* data = av_packet_new_side_data(&packet, AV_PKT_DATA_DISPLAYMATRIX, sizeof matrix);
  if (data == nullptr) throw std::bad_alloc();
  std::memcpy(data, matrix.data(), sizeof matrix);
}

// `name`: where "Exif" or "EXIF" stands in the packet.
void hide(AVPacket& packet, std::size_t name) {
  if (av_packet_make_writable(&packet) < 0) throw std::bad_alloc();
  std::memcpy(packet.data + name, "none", 4);
}

// A chunk tEXt: FFmpeg's decoder of PNG replaces what the packet's side data says of a frame by what such chunks do.
std::string text_chunk(std::string_view keyword, int value) {
  std::string chunk(4, '\0');
  chunk += "tEXt" + std::string(keyword) + '\0' + std::to_string(value);
  AV_WB32(chunk.data(), static_cast<std::uint32_t>(chunk.size() - 8));
  const auto* named = reinterpret_cast<const std::uint8_t*>(chunk.data()) + 4;
  const std::uint32_t crc = ~av_crc(av_crc_get_table(AV_CRC_32_IEEE_LE), ~0U, named, chunk.size() - 4);
  chunk.resize(chunk.size() + 4);
  AV_WL32(chunk.data() + chunk.size() - 4, av_bswap32(crc));
  return chunk;
}

// `cicp`: the chunk, in the packet or elsewhere. `at`: where the packet may get another chunk.
void attach_color(AVPacket& packet, Bytes cicp, std::size_t at) {
  constexpr std::size_t kPrimaries = 0, kTransfer = 1, kMatrix = 2, kFullRange = 3;
  if (cicp.size() != 4 || cicp[kMatrix] != AVCOL_SPC_RGB || at > static_cast<std::size_t>(packet.size)) return;
  const int code = cicp[kPrimaries] << 16 | cicp[kTransfer] << 8 | (cicp[kFullRange] != 0 ? 1 : 0);
  const std::string chunk = text_chunk(kColor, code);
  const std::size_t behind = static_cast<std::size_t>(packet.size) - at;
  if (av_grow_packet(&packet, static_cast<int>(chunk.size())) < 0) throw std::bad_alloc();
  std::memmove(packet.data + at + chunk.size(), packet.data + at, behind);
  std::memcpy(packet.data + at, chunk.data(), chunk.size());
}

ColorCode unpack_color(int code) {
  if (code < 0) return {};
  return {code >> 16, code >> 8 & 0xff, (code & 1) != 0};
}

int value_of(const AVFrame& frame, const char* name, int otherwise) {
  const AVDictionaryEntry* entry = av_dict_get(frame.metadata, name, nullptr, 0);
  return entry != nullptr ? std::atoi(entry->value) : otherwise;
}

}  // namespace

void attach_picture_facts(AVPacket& packet, const AVCodecParameters& codec, const AVInputFormat& container) {
  const Bytes data(packet.data, static_cast<std::size_t>(std::max(packet.size, 0)));
  const auto extradata_size = static_cast<std::size_t>(std::max(codec.extradata_size, 0));
  switch (codec.codec_id) {
    case AV_CODEC_ID_TARGA:
      if (tga_is_opaque(data)) attach(packet, kOpaque);
      return;
    case AV_CODEC_ID_BMP:
      if (std::string_view(container.name) != "ico" && bmp_is_opaque(data)) attach(packet, kOpaque);
      return;
    case AV_CODEC_ID_MJPEG:
      if (jpeg_is_plain_cmyk(data)) attach(packet, kCmyk);
      if (const Bytes exif = find_jpeg_exif(data); !exif.empty()) {
        attach_orientation(packet, read_orientation(exif));
        hide(packet, static_cast<std::size_t>(exif.data() - data.data()));
      }
      return;
    case AV_CODEC_ID_WEBP:
      if (const Bytes exif = find_webp_exif(data); !exif.empty()) {
        attach_orientation(packet, read_orientation(exif));
        hide(packet, static_cast<std::size_t>(exif.data() - data.data()) - 8);
      }
      return;
    case AV_CODEC_ID_PNG:
      attach_orientation(packet, read_orientation(find_png_exif(data)));
      attach_color(packet, find_png_chunk(data, "cICP"), kPngHeader);
      return;
    case AV_CODEC_ID_APNG:
      attach_orientation(packet, read_orientation(find_png_exif({codec.extradata, extradata_size})));
      attach_color(packet, find_png_chunk({codec.extradata, extradata_size}, "cICP"), 0);
      return;
    case AV_CODEC_ID_TIFF:
      attach_orientation(packet, read_orientation(data));
      if (const int pages = count_pages(data); pages > 1) attach(packet, kPages, pages);
      return;
    default:
      return;
  }
}

PictureFacts picture_facts(const AVFrame& frame) {
  if (frame.metadata == nullptr) return {};
  return {value_of(frame, kOpaque, 0) != 0, value_of(frame, kCmyk, 0) != 0, value_of(frame, kPages, 1),
          unpack_color(value_of(frame, kColor, -1))};
}

}  // namespace saccade
