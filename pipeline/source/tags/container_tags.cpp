#include "pipeline/source/tags/container_tags.h"

#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "pipeline/source/ffmpeg/orientation.h"
#include "pipeline/source/ffmpeg/versions.h"
#include "pipeline/source/tags/matroska_tags.h"
#include "pipeline/source/tags/mp4_tags.h"

extern "C" {
#include <libavutil/intreadwrite.h>
}

namespace saccade {
namespace {

struct IoDeleter {
  void operator()(AVIOContext* io) const noexcept { avio_close(io); }
};
using IoPtr = std::unique_ptr<AVIOContext, IoDeleter>;

IoPtr open_file(const std::string& file) {
  AVIOContext* io = nullptr;
  if (!file.empty() && avio_open(&io, file.c_str(), AVIO_FLAG_READ) < 0) return nullptr;
  return IoPtr(io);
}

bool is_seekable(const AVIOContext* io) { return io != nullptr && (io->seekable & AVIO_SEEKABLE_NORMAL) != 0; }

// By its brand (ISO/IEC 23008-12 10.2, AVIF 6).
bool is_heif(AVFormatContext& format) {
  const AVDictionaryEntry* entry = av_dict_get(format.metadata, "major_brand", nullptr, 0);
  const std::string_view brand = entry != nullptr ? entry->value : "";
  return brand == "avif" || brand == "avis" || brand == "mif1" || brand == "msf1" || brand.starts_with("hei") ||
         brand.starts_with("hev");
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

// A track's own matrix is left alone.
void set_orientation(AVStream& stream, const Mp4Tags& tags) {
  std::size_t size = 0;
  const bool has_matrix = stream_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, size) != nullptr;
  if (!tags.orientation || (has_matrix && !tags.is_item)) return;
  const DisplayMatrix matrix = display_matrix(*tags.orientation);
  std::uint8_t* data = new_stream_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, sizeof matrix);
  if (data == nullptr) throw std::bad_alloc();
  std::memcpy(data, matrix.data(), sizeof matrix);
}

}  // namespace

ContainerTags read_container_tags(const std::string& file, bool crop, VideoStream& video) {
  const std::string_view container = video.format->iformat->name;
  const bool is_mp4 = container.find("mp4") != std::string_view::npos;
  if (!is_mp4 && !container.starts_with("matroska")) return {};
  ContainerTags result;
  CropTags found = crop_of_ffmpeg(*video.stream);
  const IoPtr own = open_file(file);
  // The demuxer seeks to each picture of such a file, so its own bytes may be read in between.
  const bool may_borrow = is_mp4 && file.empty() && is_heif(*video.format);
  AVIOContext* io = may_borrow && is_seekable(video.format->pb) ? video.format->pb : own.get();
  if (io != nullptr && is_mp4) {
    Mp4Tags tags = read_mp4_tags(*io, video);
    set_orientation(*video.stream, tags);
    if (tags.crop.any()) found = tags.crop;
    result.derivation = std::move(tags.derivation);
  } else if (io != nullptr && crop) {
    if (const CropTags pixels = read_pixel_crop(*io, video); pixels.any()) found = pixels;
  }
  if (crop && found.any() && leaves_a_picture(found)) video.crop = found;
  result.items_unread = may_borrow && io == nullptr && !kPassesItemsOn;
  return result;
}

}  // namespace saccade
