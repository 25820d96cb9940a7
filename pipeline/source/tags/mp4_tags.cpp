#include "pipeline/source/tags/mp4_tags.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "pipeline/source/tags/boxes.h"

namespace saccade {
namespace {

// A box that stands at a picture, of whatever type.
struct Property {
  std::uint32_t type = 0;
  Span body;
};

void seek(AVIOContext& io, std::int64_t at) { avio_seek(&io, at, SEEK_SET); }

// The body of the track whose tkhd has this id.
std::optional<Span> find_track(AVIOContext& io, Span moov, int id) {
  for (int i = 0;; ++i) {
    const std::optional<Span> track = find_box(io, moov, fourcc("trak"), i);
    if (!track) return std::nullopt;
    const std::optional<Span> header = find_box(io, *track, fourcc("tkhd"));
    if (!header) continue;
    seek(io, header->begin);
    const bool wide = avio_r8(&io) == 1;  // version 1: times of 64 bits
    avio_skip(&io, wide ? 19 : 11);
    if (static_cast<int>(avio_rb32(&io)) == id) return track;
  }
}

std::vector<Property> list_boxes(AVIOContext& io, Span in) {
  std::vector<Property> list;
  each_box(io, in, [&list](std::uint32_t type, Span body) {
    list.push_back({type, body});
    return true;
  });
  return list;
}

// Of the track's first sample entry, and the size that it gives.
std::vector<Property> properties_of_track(AVIOContext& io, Span track, CropTags& size) {
  constexpr std::int64_t kVisualSampleEntry = 78;  // ISO/IEC 14496-12 12.1.3.2, without the box's header
  const std::optional<Span> table =
      find_path(io, track, {fourcc("mdia"), fourcc("minf"), fourcc("stbl"), fourcc("stsd")});
  if (!table) return {};
  seek(io, table->begin + 8);
  const std::int64_t entry_size = avio_rb32(&io);
  const Span entry = {table->begin + 16, std::min(table->begin + 8 + entry_size, table->end)};
  seek(io, entry.begin + 24);
  size.width = static_cast<int>(avio_rb16(&io));
  size.height = static_cast<int>(avio_rb16(&io));
  return list_boxes(io, {entry.begin + kVisualSampleEntry, entry.end});
}

// The boxes of HEIF's `meta` (ISO/IEC 14496-12 8.11), which begins with a version and flags as most of them do.
struct Items {
  AVIOContext& io;
  Span meta;

  std::optional<Span> find(std::uint32_t type) const { return find_box(io, meta, type); }
  unsigned version(Span box) const {
    seek(io, box.begin);
    return avio_rb32(&io) >> 24;
  }
  std::uint32_t read_id(bool wide) const { return wide ? avio_rb32(&io) : avio_rb16(&io); }
  std::optional<std::uint32_t> primary() const;
  std::uint32_t type_of(std::uint32_t id) const;
  std::vector<Property> properties_of(std::uint32_t id) const;
};

std::optional<std::uint32_t> Items::primary() const {
  const std::optional<Span> box = find(fourcc("pitm"));
  if (!box) return std::nullopt;
  const bool wide = version(*box) > 0;
  return read_id(wide);
}

// 0: it is not listed.
std::uint32_t Items::type_of(std::uint32_t id) const {
  const std::optional<Span> list = find(fourcc("iinf"));
  if (!list) return 0;
  const std::int64_t head = version(*list) == 0 ? 6 : 8;
  std::uint32_t type = 0;
  each_box(io, {list->begin + head, list->end}, [&](std::uint32_t, Span entry) {
    const unsigned entry_version = version(entry);
    if (entry_version < 2 || read_id(entry_version > 2) != id) return true;
    avio_skip(&io, 2);
    type = avio_rb32(&io);
    return false;
  });
  return type;
}

// In the order in which `ipma` lists them (ISO/IEC 23008-12 9.3).
std::vector<Property> Items::properties_of(std::uint32_t id) const {
  const std::optional<Span> box = find(fourcc("iprp"));
  const std::optional<Span> container = box ? find_box(io, *box, fourcc("ipco")) : std::nullopt;
  if (!container) return {};
  const std::vector<Property> all = list_boxes(io, *container);
  std::vector<Property> properties;
  each_box(io, *box, [&](std::uint32_t type, Span list) {
    if (type != fourcc("ipma")) return true;
    seek(io, list.begin);
    const unsigned head = avio_rb32(&io);
    const bool wide_ids = head >> 24 > 0;
    const bool wide = (head & 1) != 0;
    for (std::uint32_t left = avio_rb32(&io); left > 0 && avio_tell(&io) < list.end; --left) {
      const bool ours = read_id(wide_ids) == id;
      for (int n = avio_r8(&io); n > 0; --n) {
        const std::size_t index = wide ? avio_rb16(&io) & 0x7fff : static_cast<unsigned>(avio_r8(&io)) & 0x7f;
        if (ours && index >= 1 && index <= all.size()) properties.push_back(all[index - 1]);
      }
    }
    return true;
  });
  return properties;
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

// The crop of a picture that `orientation` has already rotated, as one of the stored picture.
CropTags before(const Orientation& orientation, CropTags crop) {
  if (orientation.hflip) std::swap(crop.left, crop.right);
  if (orientation.vflip) std::swap(crop.top, crop.bottom);
  if (!orientation.transpose) return crop;
  std::swap(crop.left, crop.top);
  std::swap(crop.right, crop.bottom);
  std::swap(crop.width, crop.height);
  return crop;
}

// `irot`: a quarter anticlockwise, up to three times. `imir`: 0 swaps top and bottom, 1 left and right.
Orientation read_orientation(AVIOContext& io, std::uint32_t type) {
  const int value = avio_r8(&io);
  if (type == fourcc("imir")) return {false, (value & 1) != 0, (value & 1) == 0};
  Orientation rotated;
  for (int i = 0; i < (value & 3); ++i) rotated = rotated.then({true, false, true});
  return rotated;
}

// One after the other. `stored`: the size of the picture.
void apply(AVIOContext& io, const std::vector<Property>& properties, const CropTags& stored, Mp4Tags& tags) {
  for (const Property& property : properties) {
    const Orientation so_far = tags.orientation.value_or(Orientation{});
    seek(io, property.body.begin);
    if (property.type == fourcc("clap")) {
      CropTags crop = stored;
      if (so_far.transpose) std::swap(crop.width, crop.height);
      if (clean_aperture(io, crop)) tags.crop = before(so_far, crop);
    } else if (property.type == fourcc("irot") || property.type == fourcc("imir")) {
      tags.orientation = so_far.then(read_orientation(io, property.type));
    }
  }
}

std::string name_of(std::uint32_t type) {
  std::string name;
  for (int shift = 24; shift >= 0; shift -= 8) name += static_cast<char>(type >> shift & 0xff);
  return name;
}

bool is_derived(std::uint32_t type) {
  return type == fourcc("grid") || type == fourcc("iovl") || type == fourcc("iden");
}

}  // namespace

Mp4Tags read_mp4_tags(AVIOContext& io, const VideoStream& video) {
  const AVStream& stream = *video.stream;
  Mp4Tags tags;
  CropTags size;
  const Span file = {0, avio_size(&io)};
  const std::optional<Span> moov = find_box(io, file, fourcc("moov"));
  if (const auto track = moov ? find_track(io, *moov, stream.id) : std::nullopt) {
    const std::vector<Property> properties = properties_of_track(io, *track, size);
    apply(io, properties, size, tags);
    return tags;
  }
  const std::optional<Span> meta = find_box(io, file, fourcc("meta"));
  if (!meta) return tags;
  const Items items = {io, {meta->begin + 4, meta->end}};
  const std::optional<std::uint32_t> primary = items.primary();
  if (!primary) return tags;
  if (const std::uint32_t type = items.type_of(*primary); is_derived(type)) {
    tags.derivation = name_of(type);
    return tags;
  }
  // Before FFmpeg 7 the one stream is the primary item, whatever its id.
  if (video.format->nb_streams > 1 && static_cast<std::uint32_t>(stream.id) != *primary) return tags;
  tags.is_item = true;
  size.width = stream.codecpar->width;
  size.height = stream.codecpar->height;
  apply(io, items.properties_of(*primary), size, tags);
  return tags;
}

}  // namespace saccade
