#include "pipeline/source/ffmpeg/exif.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>

extern "C" {
#include <libavutil/intreadwrite.h>
}

namespace saccade {
namespace {

constexpr std::string_view kExifPrefix("Exif\0\0", 6);

bool begins_with(Bytes data, std::string_view text) {
  return data.size() >= text.size() && std::memcmp(data.data(), text.data(), text.size()) == 0;
}

// What is there of the `size` bytes from `at` on.
Bytes part(Bytes data, std::uint64_t at, std::uint64_t size) {
  if (at >= data.size()) return {};
  return data.subspan(at, std::min<std::uint64_t>(size, data.size() - at));
}

// The directories of a TIFF (TIFF 6.0, section 2) or BigTIFF: offsets of 4 or 8 bytes, in either byte order. Damaged
// ones may overlap: no more entries are read than fit side by side.
class Directories {
 public:
  explicit Directories(Bytes data) : data_(data) {
    big_endian_ = begins_with(data, "MM");
    if (!big_endian_ && !begins_with(data, "II")) return;
    const std::uint64_t version = number(2, 2);
    wide_ = version == 43;
    if (version == 42 || wide_) first_ = wide_ ? number(8, 8) : number(4, 4);
    entries_left_ = data.size() / entry_bytes();
  }

  std::uint64_t first() const { return first_; }  // 0: none

  // Calls use(tag, value) for each entry with a whole number, the first of several. Returns where the next directory
  // is; 0: there is none.
  template <class Use>
  std::uint64_t each_entry(std::uint64_t at, Use use) {
    const std::uint64_t head = wide_ ? 8 : 2;
    const std::uint64_t count = number(at, head);
    at += head;
    for (std::uint64_t i = 0; i < count; ++i, at += entry_bytes()) {
      if (entries_left_ == 0) return 0;
      --entries_left_;
      const std::uint64_t field = at + (wide_ ? 12 : 8);
      const std::uint64_t bytes = bytes_of(number(at + 2, 2));
      const std::uint64_t values = number(at + 4, wide_ ? 8 : 4);
      if (bytes > 0 && values > 0 && values <= (wide_ ? 8 : 4) / bytes) use(number(at, 2), number(field, bytes));
    }
    return number(at, wide_ ? 8 : 4);
  }

 private:
  std::uint64_t entry_bytes() const { return wide_ ? 20 : 12; }

  // 0 where the data ends before.
  std::uint64_t number(std::uint64_t at, std::uint64_t bytes) const {
    if (at > data_.size() || bytes > data_.size() - at) return 0;
    std::uint64_t value = 0;
    for (std::uint64_t i = 0; i < bytes; ++i) {
      value = value << 8 | data_[at + (big_endian_ ? i : bytes - 1 - i)];
    }
    return value;
  }

  // Of the unsigned types BYTE, SHORT, LONG and LONG8; 0: another one.
  static std::uint64_t bytes_of(std::uint64_t type) {
    return type == 1 ? 1 : type == 3 ? 2 : type == 4 ? 4 : type == 16 ? 8 : 0;
  }

  Bytes data_;
  bool big_endian_ = false;
  bool wide_ = false;
  std::uint64_t first_ = 0;
  std::uint64_t entries_left_ = 0;
};

}  // namespace

std::vector<std::pair<std::uint8_t, Bytes>> jpeg_segments(Bytes data) {
  std::vector<std::pair<std::uint8_t, Bytes>> segments;
  std::size_t at = 2;
  while (at + 4 <= data.size() && data[at] == 0xff) {
    const std::uint8_t marker = data[at + 1];
    if (marker == 0xff) {  // a fill byte
      ++at;
      continue;
    }
    const std::size_t length = AV_RB16(&data[at + 2]);
    if (marker == 0xda || length < 2) break;
    segments.emplace_back(marker, part(data, at + 4, length - 2));
    at += 2 + length;
  }
  return segments;
}

// The first APP1 that begins with "Exif".
Bytes find_jpeg_exif(Bytes data) {
  for (const auto& [marker, body] : jpeg_segments(data)) {
    if (marker == 0xe1 && begins_with(body, kExifPrefix)) return body;
  }
  return {};
}

Bytes find_png_exif(Bytes data) { return find_png_chunk(data, "eXIf"); }

Bytes find_png_chunk(Bytes data, std::string_view wanted) {
  std::uint64_t at = begins_with(data, "\x89PNG\r\n\x1a\n") ? 8 : 0;
  while (at + 8 <= data.size()) {
    const std::uint64_t length = AV_RB32(&data[at]);
    const Bytes kind = part(data, at + 4, 4);
    if (begins_with(kind, wanted)) return part(data, at + 8, length);
    if (begins_with(kind, "IEND")) break;
    at += 12 + length;
  }
  return {};
}

Bytes find_webp_exif(Bytes data) {
  if (!begins_with(data, "RIFF") || !begins_with(part(data, 8, 4), "WEBP")) return {};
  std::uint64_t at = 12;
  while (at + 8 <= data.size()) {
    const std::uint64_t length = AV_RL32(&data[at + 4]);
    if (begins_with(part(data, at, 4), "EXIF")) return part(data, at + 8, length);
    at += 8 + length + (length & 1);
  }
  return {};
}

int read_orientation(Bytes tiff) {
  while (begins_with(tiff, kExifPrefix)) tiff = tiff.subspan(kExifPrefix.size());
  Directories directories(tiff);
  std::uint64_t orientation = 0;
  if (directories.first() != 0) {
    directories.each_entry(directories.first(), [&](std::uint64_t tag, std::uint64_t value) {
      constexpr std::uint64_t kOrientation = 274;
      if (tag == kOrientation) orientation = value;
    });
  }
  return orientation <= 8 ? static_cast<int>(orientation) : 0;
}

int count_pages(Bytes tiff) {
  Directories directories(tiff);
  std::set<std::uint64_t> seen;
  int pages = 0;
  for (std::uint64_t at = directories.first(); at != 0 && seen.insert(at).second;) {
    bool is_picture = false;
    bool is_of_another = false;
    at = directories.each_entry(at, [&](std::uint64_t tag, std::uint64_t value) {
      constexpr std::uint64_t kNewSubfileType = 254, kSubfileType = 255, kWidth = 256;
      constexpr std::uint64_t kReducedOrMask = 1 | 4, kReduced = 2;
      is_picture = is_picture || tag == kWidth;
      is_of_another = is_of_another || (tag == kNewSubfileType && (value & kReducedOrMask) != 0) ||
                      (tag == kSubfileType && value == kReduced);
    });
    pages += is_picture && !is_of_another ? 1 : 0;
  }
  return pages;
}

}  // namespace saccade
