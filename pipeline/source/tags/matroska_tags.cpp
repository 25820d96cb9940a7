#include "pipeline/source/tags/matroska_tags.h"

#include <algorithm>
#include <optional>

#include "pipeline/source/tags/boxes.h"
#include "pipeline/source/tags/ebml.h"

namespace saccade {
namespace {

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

}  // namespace

CropTags read_pixel_crop(AVIOContext& io, const VideoStream& video) {
  constexpr std::uint64_t kTracks = 0x1654AE6B;
  if (!enter_segment(io)) return {};
  std::optional<Span> tracks;
  each_element(io, {avio_tell(&io), avio_size(&io)}, [&](std::uint64_t id, Span body) {
    if (id == kTracks) tracks = body;
    return !tracks;
  });
  const std::optional<Span> element =
      tracks ? find_video_element(io, *tracks, videos_before(*video.format, *video.stream)) : std::nullopt;
  if (!element) return {};
  const VideoElement tags = read_video_element(io, *element);
  const CropTags crop = {tags.crop[2], tags.crop[1], tags.crop[3], tags.crop[0], tags.width, tags.height};
  const int width = crop.width - crop.left - crop.right;
  const int height = crop.height - crop.top - crop.bottom;
  if (!crop.any() || width <= 0 || height <= 0) return {};
  constexpr std::uint64_t kUnknownUnit = 4;
  const double across = tags.display_width > 0 ? tags.display_width : tags.unit == 0 ? width : 0;
  const double down = tags.display_height > 0 ? tags.display_height : tags.unit == 0 ? height : 0;
  if (across > 0 && down > 0 && tags.unit < kUnknownUnit) {
    video.stream->sample_aspect_ratio = av_d2q(across * height / (down * width), 1 << 20);
  }
  return crop;
}

}  // namespace saccade
