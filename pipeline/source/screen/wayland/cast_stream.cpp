#include "pipeline/source/screen/wayland/cast_stream.h"

#include <fmt/format.h>
#include <spa/buffer/meta.h>
#include <spa/param/buffers.h>
#include <spa/param/param.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "pipeline/error.h"

namespace saccade::wayland {
namespace {

constexpr std::uint32_t kLongestSide_px = 32768;
constexpr int kMostDamage = 16, kLeastDamage = 4;  // rectangles a buffer
constexpr int kLargestPointer_px = 1024;

template <typename T>
T* find_meta(const spa_buffer& buffer, spa_meta_type type) {
  return static_cast<T*>(spa_buffer_find_meta_data(&buffer, type, sizeof(T)));
}

PixelRect pixel_rect(const spa_region& region) {
  return {region.position.x, region.position.y, static_cast<int>(region.size.width),
          static_cast<int>(region.size.height)};
}

// What is wanted: four bytes a pixel, in memory (no modifier is named, so that no DMA-BUF comes), as changes come.
const spa_pod* wanted_format(spa_pod_builder& builder, double rate) {
  const spa_rectangle likely{1920, 1080}, least{1, 1}, most{kLongestSide_px, kLongestSide_px};
  const spa_fraction any{0, 1}, slowest{1, 1};
  const spa_fraction fastest{static_cast<std::uint32_t>(std::ceil(std::max(rate, 1.0))), 1};
  return static_cast<const spa_pod*>(spa_pod_builder_add_object(
      &builder, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video),
      SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), SPA_FORMAT_VIDEO_format,
      SPA_POD_CHOICE_ENUM_Id(5, SPA_VIDEO_FORMAT_BGRx, SPA_VIDEO_FORMAT_BGRx, SPA_VIDEO_FORMAT_BGRA,
                             SPA_VIDEO_FORMAT_RGBx, SPA_VIDEO_FORMAT_RGBA),
      SPA_FORMAT_VIDEO_size, SPA_POD_CHOICE_RANGE_Rectangle(&likely, &least, &most), SPA_FORMAT_VIDEO_framerate,
      SPA_POD_Fraction(&any), SPA_FORMAT_VIDEO_maxFramerate,
      SPA_POD_CHOICE_RANGE_Fraction(&fastest, &slowest, &fastest)));
}

const spa_pod* wanted_meta(spa_pod_builder& builder, spa_meta_type type, int likely, int least, int most) {
  return static_cast<const spa_pod*>(
      spa_pod_builder_add_object(&builder, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta, SPA_PARAM_META_type,
                                 SPA_POD_Id(type), SPA_PARAM_META_size, SPA_POD_CHOICE_RANGE_Int(likely, least, most)));
}

const spa_pod* wanted_buffers(spa_pod_builder& builder) {
  return static_cast<const spa_pod*>(
      spa_pod_builder_add_object(&builder, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
                                 SPA_POD_CHOICE_RANGE_Int(4, 2, 16), SPA_PARAM_BUFFERS_dataType,
                                 SPA_POD_CHOICE_FLAGS_Int((1 << SPA_DATA_MemPtr) | (1 << SPA_DATA_MemFd))));
}

}  // namespace

class CastStream::Lock {
 public:
  explicit Lock(pw_thread_loop* loop) : loop_(loop) { pw_thread_loop_lock(loop_); }
  ~Lock() { pw_thread_loop_unlock(loop_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  pw_thread_loop* loop_;
};

const pw_stream_events& CastStream::stream_events() {
  static const pw_stream_events events = [] {
    pw_stream_events made{};
    made.version = PW_VERSION_STREAM_EVENTS;
    made.state_changed = [](void* self, pw_stream_state before, pw_stream_state now, const char* error) {
      if (now == PW_STREAM_STATE_ERROR) static_cast<CastStream*>(self)->end(error != nullptr ? error : "an error");
      if (now == PW_STREAM_STATE_STREAMING) static_cast<CastStream*>(self)->begun_ = true;
      if (now == PW_STREAM_STATE_UNCONNECTED && before != now) static_cast<CastStream*>(self)->end("it was removed");
    };
    made.param_changed = [](void* self, std::uint32_t id, const spa_pod* value) {
      if (id == SPA_PARAM_Format && value != nullptr) static_cast<CastStream*>(self)->accept(value);
    };
    made.remove_buffer = [](void* self, pw_buffer* buffer) {
      auto* const stream = static_cast<CastStream*>(self);
      if (stream->newest_ == buffer) stream->newest_ = nullptr;
    };
    made.process = [](void* self) { static_cast<CastStream*>(self)->take_buffers(); };
    return made;
  }();
  return events;
}

const pw_core_events& CastStream::core_events() {
  static const pw_core_events events = [] {
    pw_core_events made{};
    made.version = PW_VERSION_CORE_EVENTS;
    made.error = [](void* self, std::uint32_t id, int /*number*/, int code, const char* words) {
      if (id == PW_ID_CORE && code == -EPIPE) static_cast<CastStream*>(self)->end("PipeWire has gone");
      if (id != PW_ID_CORE) static_cast<CastStream*>(self)->end(words != nullptr ? words : std::strerror(-code));
    };
    return made;
  }();
  return events;
}

CastStream::CastStream() : event_fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

CastStream::CastStream(int remote, std::uint32_t node, double rate, const std::string& uri) : CastStream() {
  load_pipewire_calls(uri);
  const auto need = [&uri](bool there, const char* what) {
    if (there) return;
    const int fault = errno;
    throw UnavailableError(fmt::format("{}: PipeWire: {}: {}; is pipewire installed whole (Debian: pipewire-bin)?", uri,
                                       what, std::strerror(fault)));
  };
  loop_ = pw_thread_loop_new("saccade-screen", nullptr);
  need(loop_ != nullptr, "no loop");
  context_ = pw_context_new(pw_thread_loop_get_loop(loop_), nullptr, 0);
  need(context_ != nullptr, "no context");
  need(pw_thread_loop_start(loop_) == 0, "no thread");
  const Lock lock(loop_);
  core_ = pw_context_connect_fd(context_, remote, nullptr, 0);
  need(core_ != nullptr, "no connection");
  pw_core_add_listener(core_, &core_hook_, &core_events(), this);
  connect(node, rate, uri);
}

void CastStream::connect(std::uint32_t node, double rate, const std::string& uri) {
  pw_properties* const properties = pw_properties_new(PW_KEY_MEDIA_TYPE, "Video", PW_KEY_MEDIA_CATEGORY, "Capture",
                                                      PW_KEY_MEDIA_ROLE, "Screen", static_cast<const char*>(nullptr));
  stream_ = pw_stream_new(core_, "saccade", properties);
  std::array<std::uint8_t, 1024> memory;
  spa_pod_builder builder{};
  spa_pod_builder_init(&builder, memory.data(), memory.size());
  const spa_pod* format = wanted_format(builder, rate);
  const auto flags = static_cast<pw_stream_flags>(PW_STREAM_FLAG_AUTOCONNECT | PW_STREAM_FLAG_MAP_BUFFERS |
                                                  PW_STREAM_FLAG_DONT_RECONNECT);
  if (stream_ != nullptr) pw_stream_add_listener(stream_, &stream_hook_, &stream_events(), this);
  if (stream_ == nullptr || pw_stream_connect(stream_, PW_DIRECTION_INPUT, node, flags, &format, 1) < 0) {
    throw UnavailableError(fmt::format("{}: PipeWire opens no stream: {}", uri, std::strerror(errno)));
  }
}

CastStream::~CastStream() {
  if (loop_ != nullptr) pw_thread_loop_stop(loop_);
  if (stream_ != nullptr) pw_stream_destroy(stream_);
  if (core_ != nullptr) pw_core_disconnect(core_);
  if (context_ != nullptr) pw_context_destroy(context_);
  if (loop_ != nullptr) pw_thread_loop_destroy(loop_);
  if (event_fd_ >= 0) close(event_fd_);
}

void CastStream::notify() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(event_fd_, &one, sizeof one);
}

void CastStream::forget_events() const {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(event_fd_, &count, sizeof count);
}

void CastStream::end(const std::string& fault) {
  if (!over_) fault_ = fault;
  over_ = true;
  notify();
}

std::string CastStream::fault() const {
  const Lock lock(loop_);
  return fault_;
}

// Another size or layout, or the first one: no buffer of the old one stays.
void CastStream::accept(const spa_pod* format) {
  spa_format_video_raw_parse(format, &format_);
  newest_ = nullptr;
  picture_.whole = true;
  std::array<std::uint8_t, 2048> memory;
  spa_pod_builder builder{};
  spa_pod_builder_init(&builder, memory.data(), memory.size());
  const auto region_bytes = static_cast<int>(sizeof(spa_meta_region));
  const auto header_bytes = static_cast<int>(sizeof(spa_meta_header));
  const auto pointer_bytes = [](int side_px) {
    return static_cast<int>(sizeof(spa_meta_cursor) + sizeof(spa_meta_bitmap)) + side_px * side_px * 4;
  };
  std::array<const spa_pod*, 5> wanted{
      wanted_buffers(builder), wanted_meta(builder, SPA_META_Header, header_bytes, header_bytes, header_bytes),
      wanted_meta(builder, SPA_META_VideoCrop, region_bytes, region_bytes, region_bytes),
      wanted_meta(builder, SPA_META_VideoDamage, region_bytes * kMostDamage, region_bytes * kLeastDamage,
                  region_bytes * kMostDamage),
      wanted_meta(builder, SPA_META_Cursor, pointer_bytes(64), pointer_bytes(1), pointer_bytes(kLargestPointer_px))};
  pw_stream_update_params(stream_, wanted.data(), static_cast<std::uint32_t>(wanted.size()));
}

void CastStream::take_buffers() {
  while (pw_buffer* const buffer = pw_stream_dequeue_buffer(stream_)) {
    take_number(*buffer->buffer);
    take_pointer(*buffer->buffer);
    if (!take_pixels(*buffer->buffer)) {
      pw_stream_queue_buffer(stream_, buffer);
      continue;
    }
    take_damage(*buffer->buffer);
    if (newest_ != nullptr) pw_stream_queue_buffer(stream_, newest_);
    newest_ = buffer;
  }
  if (newest_ != nullptr) changed_ = true;
  pointed_ = true;
  notify();
}

// False: the buffer has none. A pointer that moved comes without.
bool CastStream::take_pixels(const spa_buffer& buffer) {
  const auto* const header = find_meta<spa_meta_header>(buffer, SPA_META_Header);
  if (buffer.n_datas == 0 || (header != nullptr && (header->flags & SPA_META_HEADER_FLAG_CORRUPTED) != 0)) return false;
  const spa_data& data = buffer.datas[0];
  const auto width = static_cast<std::ptrdiff_t>(format_.size.width),
             height = static_cast<std::ptrdiff_t>(format_.size.height);
  const spa_chunk& chunk = *data.chunk;
  const std::ptrdiff_t pitch_bytes = chunk.stride != 0 ? chunk.stride : width * 4;
  if (data.data == nullptr || chunk.size == 0 || (chunk.flags & SPA_CHUNK_FLAG_CORRUPTED) != 0 ||
      pitch_bytes < width * 4 || chunk.offset + pitch_bytes * (height - 1) + width * 4 > std::ptrdiff_t{data.maxsize}) {
    return false;
  }
  picture_.pixels = static_cast<const std::uint8_t*>(data.data) + chunk.offset;
  picture_.pitch_bytes = pitch_bytes;
  picture_.red_first = format_.format == SPA_VIDEO_FORMAT_RGBx || format_.format == SPA_VIDEO_FORMAT_RGBA;
  picture_.area = {0, 0, static_cast<int>(width), static_cast<int>(height)};
  const auto* const crop = find_meta<spa_meta_region>(buffer, SPA_META_VideoCrop);
  if (crop != nullptr && spa_meta_region_is_valid(crop)) {
    const PixelRect part = pixel_rect(crop->region);
    const bool inside = part.x >= 0 && part.y >= 0 && part.x + part.width <= width && part.y + part.height <= height;
    if (inside) picture_.area = part;
  }
  picture_.made_ns = header != nullptr && header->pts > 0 ? header->pts : 0;
  return true;
}

void CastStream::take_number(const spa_buffer& buffer) {
  const auto* const header = find_meta<spa_meta_header>(buffer, SPA_META_Header);
  if (header == nullptr || header->seq != number_ + 1) picture_.whole = true;
  number_ = header != nullptr ? header->seq : 0;
}

void CastStream::take_damage(const spa_buffer& buffer) {
  const spa_meta* const damage = spa_buffer_find_meta(&buffer, SPA_META_VideoDamage);
  const std::size_t before = picture_.damage.size();
  const spa_meta_region* region = nullptr;
  if (damage != nullptr) {
    spa_meta_for_each(region, damage) {
      if (!spa_meta_region_is_valid(region)) break;
      picture_.damage.push_back(pixel_rect(region->region));
    }
  }
  if (picture_.damage.size() == before) picture_.whole = true;
}

void CastStream::take_pointer(const spa_buffer& buffer) {
  const spa_meta* const meta = spa_buffer_find_meta(&buffer, SPA_META_Cursor);
  const auto* const cursor = find_meta<spa_meta_cursor>(buffer, SPA_META_Cursor);
  pointer_.shown = cursor != nullptr && spa_meta_cursor_is_valid(cursor);
  if (!pointer_.shown) return;
  if (cursor->bitmap_offset >= sizeof(spa_meta_cursor) &&
      cursor->bitmap_offset + sizeof(spa_meta_bitmap) <= meta->size) {
    const auto* const start = reinterpret_cast<const std::uint8_t*>(cursor) + cursor->bitmap_offset;
    take_image(start, meta->size - cursor->bitmap_offset);
    hot_spot_ = cursor->hotspot;
  }
  pointer_.x_px = cursor->position.x;
  pointer_.y_px = cursor->position.y;
  pointer_.at.x = pointer_.x_px - hot_spot_.x;
  pointer_.at.y = pointer_.y_px - hot_spot_.y;
}

// start: a spa_meta_bitmap and its pixels. None of them: the pointer can't be seen.
void CastStream::take_image(const std::uint8_t* start, std::size_t bytes) {
  const auto& bitmap = *reinterpret_cast<const spa_meta_bitmap*>(start);
  const std::size_t width = bitmap.size.width, height = bitmap.size.height;
  const bool fits = bitmap.offset >= sizeof bitmap && width <= kLargestPointer_px && height <= kLargestPointer_px &&
                    bitmap.stride >= 0 && static_cast<std::size_t>(bitmap.stride) >= width * 4 &&
                    bitmap.offset + static_cast<std::size_t>(bitmap.stride) * height <= bytes;
  pointer_.at.width = fits ? static_cast<int>(width) : 0;
  pointer_.at.height = fits ? static_cast<int>(height) : 0;
  pointer_.pixels.clear();
  const bool red_first = bitmap.format == SPA_VIDEO_FORMAT_RGBA;
  for (std::ptrdiff_t y = 0; y < pointer_.at.height; ++y) {
    for (std::ptrdiff_t x = 0; x < pointer_.at.width; ++x) {
      std::uint32_t pixel = 0;
      std::memcpy(&pixel, start + bitmap.offset + y * bitmap.stride + x * 4, sizeof pixel);
      if (red_first) pixel = (pixel & 0xff00ff00U) | (pixel >> 16 & 0xffU) | (pixel & 0xffU) << 16;
      pointer_.pixels.push_back(pixel);
    }
  }
}

void CastStream::look(const std::function<void(const CastPicture* picture)>& use) {
  const Lock lock(loop_);
  use(newest_ != nullptr ? &picture_ : nullptr);
}

void CastStream::read(const std::function<void(const CastPicture* picture, const CastPointer& pointer)>& use) {
  const Lock lock(loop_);
  changed_ = pointed_ = false;
  use(newest_ != nullptr ? &picture_ : nullptr, pointer_);
  if (newest_ == nullptr) return;
  pw_stream_queue_buffer(stream_, newest_);
  newest_ = nullptr;
  picture_.whole = false;
  picture_.damage.clear();
}

}  // namespace saccade::wayland
