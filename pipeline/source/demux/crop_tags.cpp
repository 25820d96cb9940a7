#include "pipeline/source/demux/crop_tags.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>

#include "pipeline/source/demux/ebml.h"
#include "pipeline/source/ffmpeg/versions.h"

extern "C" {
#include <libavutil/intreadwrite.h>
}

namespace saccade {
namespace {

struct IoDeleter {
  void operator()(AVIOContext* io) const noexcept { avio_close(io); }
};
using IoPtr = std::unique_ptr<AVIOContext, IoDeleter>;

constexpr std::uint32_t fourcc(const char (&name)[5]) {
  std::uint32_t code = 0;
  for (int i = 0; i < 4; ++i) code = code << 8 | static_cast<std::uint8_t>(name[i]);
  return code;
}

// Where the body of a box, or of an element, lies in the file.
struct Span {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// The first box of this type inside `in`. `skip`: so many of them before it.
std::optional<Span> find_box(AVIOContext& io, Span in, std::uint32_t type, int skip = 0) {
  for (std::int64_t at = in.begin; at + 8 <= in.end;) {
    if (avio_seek(&io, at, SEEK_SET) < 0) return std::nullopt;
    std::int64_t size = avio_rb32(&io);
    const std::uint32_t found = avio_rb32(&io);
    std::int64_t header = 8;
    if (size == 1) {
      size = static_cast<std::int64_t>(avio_rb64(&io));
      header = 16;
    }
    if (size == 0) size = in.end - at;
    if (size < header || size > in.end - at || avio_feof(&io) != 0) return std::nullopt;
    if (found == type && skip-- == 0) return Span{at + header, at + size};
    at += size;
  }
  return std::nullopt;
}

std::optional<Span> find_path(AVIOContext& io, Span in, std::initializer_list<std::uint32_t> path) {
  std::optional<Span> at = in;
  for (const std::uint32_t type : path) {
    if (at) at = find_box(io, *at, type);
  }
  return at;
}

// The body of the track whose tkhd has this id.
std::optional<Span> find_track(AVIOContext& io, Span moov, int id) {
  for (int i = 0;; ++i) {
    const std::optional<Span> track = find_box(io, moov, fourcc("trak"), i);
    if (!track) return std::nullopt;
    const std::optional<Span> header = find_box(io, *track, fourcc("tkhd"));
    if (!header) continue;
    avio_seek(&io, header->begin, SEEK_SET);
    const bool wide = avio_r8(&io) == 1;  // version 1: times of 64 bits
    avio_skip(&io, wide ? 19 : 11);
    if (static_cast<int>(avio_rb32(&io)) == id) return track;
  }
}

// Centre and size of the clean aperture, as FFmpeg 7.1 rounds them: whole pixels whose left, or top, edge lies in it.
bool clean_aperture(AVIOContext& io, CropTags& crop) {
  std::array<double, 4> value = {};  // width, height, offsets of the centre to the right and down
  for (std::size_t i = 0; i < value.size(); ++i) {
    const std::uint32_t numerator = avio_rb32(&io);
    const std::uint32_t denominator = avio_rb32(&io);
    if (denominator == 0) return false;
    const bool is_signed = i >= 2;
    value[i] = (is_signed ? static_cast<double>(static_cast<std::int32_t>(numerator)) : numerator) / denominator;
  }
  const auto side = [](int whole, double size, double offset, int& before, int& after) {
    const double first = (whole - size) / 2 + offset;
    before = static_cast<int>(std::floor(first));
    after = whole - 1 - static_cast<int>(std::floor(first + size - 1));
  };
  if (!(value[0] >= 1 && value[0] <= crop.width && value[1] >= 1 && value[1] <= crop.height)) return false;
  if (std::abs(value[2]) > crop.width || std::abs(value[3]) > crop.height) return false;
  side(crop.width, value[0], value[2], crop.left, crop.right);
  side(crop.height, value[1], value[3], crop.top, crop.bottom);
  return true;
}

bool read_clap(AVIOContext& io, const AVStream& stream, CropTags& crop) {
  constexpr std::int64_t kVisualSampleEntry = 78;  // ISO/IEC 14496-12 12.1.3.2, without the box's header
  const std::optional<Span> moov = find_box(io, {0, avio_size(&io)}, fourcc("moov"));
  const std::optional<Span> track = moov ? find_track(io, *moov, stream.id) : std::nullopt;
  if (!track) return false;
  const std::optional<Span> table =
      find_path(io, *track, {fourcc("mdia"), fourcc("minf"), fourcc("stbl"), fourcc("stsd")});
  if (!table || avio_seek(&io, table->begin + 8, SEEK_SET) < 0) return false;
  const std::int64_t entry_size = avio_rb32(&io);
  const Span entry = {table->begin + 16, std::min(table->begin + 8 + entry_size, table->end)};
  avio_seek(&io, entry.begin + 24, SEEK_SET);
  crop.width = static_cast<int>(avio_rb16(&io));
  crop.height = static_cast<int>(avio_rb16(&io));
  const std::optional<Span> clap = find_box(io, {entry.begin + kVisualSampleEntry, entry.end}, fourcc("clap"));
  return clap && avio_seek(&io, clap->begin, SEEK_SET) >= 0 && clean_aperture(io, crop);
}

// Calls use(id, body) for each element of `in` until it says false.
template <typename Use>
void each_element(AVIOContext& io, Span in, Use use) {
  for (std::int64_t at = in.begin; at < in.end;) {
    if (avio_seek(&io, at, SEEK_SET) < 0) return;
    const std::optional<std::uint64_t> id = read_vint(io, true);
    const std::optional<std::uint64_t> size = read_vint(io, false);
    if (!id || !size || avio_feof(&io) != 0) return;
    const std::int64_t begin = avio_tell(&io);
    const auto left = static_cast<std::uint64_t>(in.end - begin);
    const Span body = {begin, *size < left ? begin + static_cast<std::int64_t>(*size) : in.end};
    if (!use(*id, body)) return;
    at = body.end;
  }
}

std::uint64_t read_number(AVIOContext& io, Span body) {
  std::uint64_t value = 0;
  for (std::int64_t i = body.begin; i < std::min(body.end, body.begin + 8); ++i) {
    value = value << 8 | static_cast<unsigned>(avio_r8(&io));
  }
  return value;
}

struct VideoElement {
  int crop[4] = {};  // bottom, top, left, right
  int width = 0, height = 0;
  double display_width = 0, display_height = 0;  // 0: not said
  std::uint64_t unit = 0;
};

VideoElement read_video_element(AVIOContext& io, Span in) {
  VideoElement video;
  each_element(io, in, [&](std::uint64_t id, Span body) {
    const auto number = [&] { return static_cast<int>(std::min<std::uint64_t>(read_number(io, body), 1U << 24)); };
    switch (id) {
      case 0xB0:
        video.width = number();
        break;
      case 0xBA:
        video.height = number();
        break;
      case 0x54AA:
        video.crop[0] = number();
        break;
      case 0x54BB:
        video.crop[1] = number();
        break;
      case 0x54CC:
        video.crop[2] = number();
        break;
      case 0x54DD:
        video.crop[3] = number();
        break;
      case 0x54B0:
        video.display_width = number();
        break;
      case 0x54BA:
        video.display_height = number();
        break;
      case 0x54B2:
        video.unit = read_number(io, body);
        break;
      default:
        break;
    }
    return true;
  });
  return video;
}

// The Video element of the n-th video track.
std::optional<Span> find_video_element(AVIOContext& io, Span tracks, int n) {
  std::optional<Span> found;
  each_element(io, tracks, [&](std::uint64_t id, Span entry) {
    constexpr std::uint64_t kTrackEntry = 0xAE, kTrackType = 0x83, kVideo = 0xE0, kTypeVideo = 1;
    if (id != kTrackEntry) return true;
    bool is_video = false;
    std::optional<Span> video;
    each_element(io, entry, [&](std::uint64_t part, Span body) {
      if (part == kTrackType) is_video = read_number(io, body) == kTypeVideo;
      if (part == kVideo) video = body;
      return true;
    });
    if (is_video && n-- == 0) found = video;
    return !found;
  });
  return found;
}

int videos_before(const AVFormatContext& format, const AVStream& stream) {
  int count = 0;
  for (int i = 0; i < stream.index; ++i) {
    count += format.streams[i]->codecpar->codec_type == AVMEDIA_TYPE_VIDEO ? 1 : 0;
  }
  return count;
}

bool read_pixel_crop(AVIOContext& io, VideoStream& video, CropTags& crop) {
  constexpr std::uint64_t kTracks = 0x1654AE6B;
  if (!enter_segment(io)) return false;
  std::optional<Span> tracks;
  each_element(io, {avio_tell(&io), avio_size(&io)}, [&](std::uint64_t id, Span body) {
    if (id == kTracks) tracks = body;
    return !tracks;
  });
  const std::optional<Span> element =
      tracks ? find_video_element(io, *tracks, videos_before(*video.format, *video.stream)) : std::nullopt;
  if (!element) return false;
  const VideoElement tags = read_video_element(io, *element);
  crop = {tags.crop[2], tags.crop[1], tags.crop[3], tags.crop[0], tags.width, tags.height};
  const int width = crop.width - crop.left - crop.right;
  const int height = crop.height - crop.top - crop.bottom;
  if (!crop.any() || width <= 0 || height <= 0) return false;
  constexpr std::uint64_t kUnknownUnit = 4;
  const double across = tags.display_width > 0 ? tags.display_width : tags.unit == 0 ? width : 0;
  const double down = tags.display_height > 0 ? tags.display_height : tags.unit == 0 ? height : 0;
  if (across > 0 && down > 0 && tags.unit < kUnknownUnit) {
    video.stream->sample_aspect_ratio = av_d2q(across * height / (down * width), 1 << 20);
  }
  return true;
}

bool leaves_a_picture(const CropTags& crop) {
  return crop.left >= 0 && crop.top >= 0 && crop.right >= 0 && crop.bottom >= 0 &&
         crop.left + crop.right < crop.width && crop.top + crop.bottom < crop.height;
}

// From FFmpeg 7.1 on, of any input.
CropTags crop_of_ffmpeg(const AVStream& stream) {
  std::size_t size = 0;
  const std::uint8_t* data = stream_crop_data(stream, size);
  if (data == nullptr || size < 16) return {};
  const auto at = [data](int i) { return static_cast<int>(AV_RL32(data + 4 * i)); };  // top, bottom, left, right
  return {at(2), at(0), at(3), at(1), stream.codecpar->width, stream.codecpar->height};
}

}  // namespace

void read_crop_tags(const InputLocation& location, VideoStream& video) {
  const std::string_view container = video.format->iformat->name;
  const bool is_mp4 = container.find("mp4") != std::string_view::npos;
  const bool is_matroska = container.starts_with("matroska");
  if (!is_mp4 && !is_matroska) return;
  CropTags crop = crop_of_ffmpeg(*video.stream);
  AVIOContext* raw = nullptr;
  const bool on_disk = location.kind == InputKind::kFile && location.url.starts_with("file:");
  if (on_disk && avio_open(&raw, location.url.c_str(), AVIO_FLAG_READ) >= 0) {
    const IoPtr io(raw);
    CropTags own;
    if (is_mp4 ? read_clap(*io, *video.stream, own) : read_pixel_crop(*io, video, own)) crop = own;
  }
  if (crop.any() && leaves_a_picture(crop)) video.crop = crop;
}

}  // namespace saccade
