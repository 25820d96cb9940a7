#include "pipeline/source/tags/mp4_movies.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "pipeline/source/tags/boxes.h"

namespace saccade {
namespace {

struct IoDeleter {
  void operator()(AVIOContext* io) const noexcept { avio_close(io); }
};
using IoPtr = std::unique_ptr<AVIOContext, IoDeleter>;

// By small reads: the boxes may be many, and what lies between them large.
IoPtr open_for_headers(const std::string& file) {
  Dictionary options;
  options.set("blocksize", "256");
  AVIOContext* io = nullptr;
  if (avio_open2(&io, file.c_str(), AVIO_FLAG_READ, nullptr, options.get()) < 0) return nullptr;
  return IoPtr(io);
}

// Where the samples that the indexes list end, of all streams.
std::int64_t end_of_samples(const AVFormatContext& format) {
  std::int64_t end = 0;
  for (unsigned i = 0; i < format.nb_streams; ++i) {
    AVStream* stream = format.streams[i];
    for (int k = 0; k < avformat_index_get_entries_count(stream); ++k) {
      const AVIndexEntry* entry = avformat_index_get_entry(stream, k);
      end = std::max(end, entry->pos + entry->size);
    }
  }
  return end;
}

std::string bytes_of(AVIOContext& io, Span body) {
  std::string bytes(static_cast<std::size_t>(std::min<std::int64_t>(body.end - body.begin, 1 << 16)), '\0');
  if (avio_seek(&io, body.begin, SEEK_SET) < 0) return {};
  const int read = avio_read(&io, reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(std::max(read, 0)));
  return bytes;
}

// Behind version, flags and two dates: the track's number in `tkhd`, the timescale in `mdhd` (8.3.2, 8.4.2).
std::string after_dates(AVIOContext& io, Span header) {
  const std::string bytes = bytes_of(io, header);
  const std::size_t at = !bytes.empty() && bytes[0] == 1 ? 20 : 12;
  return bytes.size() > at ? bytes.substr(at, 4) : "";
}

// By what the samples of a movie are decoded and timed.
std::string headers_of(AVIOContext& io, Span movie) {
  std::string headers;
  each_box(io, movie, [&](std::uint32_t type, Span track) {
    if (type != fourcc("trak")) return true;
    const auto add = [&](const std::optional<Span>& header, auto* read) {
      if (header) headers += read(io, *header);
    };
    add(find_box(io, track, fourcc("tkhd")), after_dates);
    add(find_path(io, track, {fourcc("mdia"), fourcc("mdhd")}), after_dates);
    add(find_path(io, track, {fourcc("mdia"), fourcc("minf"), fourcc("stbl"), fourcc("stsd")}), bytes_of);
    return true;
  });
  return headers;
}

// The decode time at which a fragment of the track begins (8.8.12).
std::optional<std::uint64_t> begin_of(AVIOContext& io, Span fragment, int track) {
  std::optional<std::uint64_t> begin;
  each_box(io, fragment, [&](std::uint32_t type, Span body) {
    if (type != fourcc("traf")) return true;
    const std::optional<Span> header = find_box(io, body, fourcc("tfhd"));
    const std::optional<Span> time = header ? find_box(io, body, fourcc("tfdt")) : std::nullopt;
    if (!time || avio_seek(&io, header->begin + 4, SEEK_SET) < 0) return true;
    if (static_cast<int>(avio_rb32(&io)) != track || avio_seek(&io, time->begin, SEEK_SET) < 0) return true;
    const bool is_long = avio_rb32(&io) >> 24 == 1;
    begin = is_long ? avio_rb64(&io) : avio_rb32(&io);
    return false;
  });
  return begin;
}

// Whether the file ends inside the fragment that lies last in it. `last`: the type of the last whole box, `end`: where
// that ends.
bool last_fragment_is_cut(AVIOContext& io, std::uint32_t last, std::int64_t end) {
  constexpr std::int64_t kHeader = 8;
  const std::int64_t left = avio_size(&io) - end;
  if (left < kHeader || avio_seek(&io, end + 4, SEEK_SET) < 0) return last == fourcc("moof");
  const std::uint32_t type = avio_rb32(&io);  // of a box that is longer than the file, if it is one
  return last == fourcc("moof") || type == fourcc("moof") || type == fourcc("mdat");
}

}  // namespace

Mp4Movies read_mp4_movies(const std::string& file, const VideoStream& video) {
  Mp4Movies movies;
  if (std::string_view(video.format->iformat->name).find("mp4") == std::string_view::npos) return movies;
  const IoPtr io = open_for_headers(file);
  if (!io) return movies;
  const std::int64_t samples_end = end_of_samples(*video.format);
  std::int64_t first_end = 0;   // of the first movie and the media that it uses
  std::int64_t file_begin = 0;  // where the next box begins, or the `ftyp` before it
  std::int64_t last_end = 0;    // of the last whole box
  std::uint32_t last = 0;
  std::optional<std::string> headers;
  std::optional<std::uint64_t> last_begin;
  bool in_fragments = false, another = false, more_media = false;
  each_box(*io, {0, avio_size(io.get())}, [&](std::uint32_t type, Span body) {
    last = type;
    last_end = body.end;
    const std::int64_t begins_at = std::exchange(file_begin, type == fourcc("ftyp") ? file_begin : body.end);
    if (type == fourcc("moof")) {
      in_fragments = in_fragments || !another;
      const std::optional<std::uint64_t> begin = begin_of(*io, body, video.stream->id);
      movies.stamps_fall = movies.stamps_fall || (begin && last_begin && *begin < *last_begin);
      if (begin) last_begin = begin;
    } else if (type == fourcc("moov") && !headers) {
      headers = headers_of(*io, body);
      first_end = std::max(first_end, body.end);
    } else if (type == fourcc("moov")) {
      another = true;
      std::optional<std::int64_t>& place =
          in_fragments && headers_of(*io, body) == headers ? movies.repeated_byte : movies.unread_byte;
      if (in_fragments && !place) place = begins_at;
    } else if (type == fourcc("mdat") && body.begin < samples_end) {
      first_end = std::max(first_end, body.end);
    } else if (type == fourcc("mdat")) {
      more_media = more_media || body.end > body.begin;
    }
    return true;
  });
  movies.is_cut = in_fragments && last_fragment_is_cut(*io, last, last_end);
  if (another && !in_fragments && more_media) movies.unread_byte = first_end;
  return movies;
}

}  // namespace saccade
