// A stream of PipeWire that a compositor draws into: its newest picture, and what of it has changed.
//
// Note [Newest of a stream]
// PipeWire's loop has a thread. It takes each buffer as it comes, keeps the newest and gives the others back at once:
// a compositor that finds no free buffer draws nothing. What the others had damaged is kept. Damage counts only if no
// buffer is missing, by the numbers in the buffers' headers; else the whole picture may have changed.
#pragma once

#include <spa/param/video/format-utils.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/frame_view.h"
#include "pipeline/source/screen/wayland/pipewire_calls.h"

namespace saccade::wayland {

// Borrowed: it holds during the call that gets it.
struct CastPicture {
  const std::uint8_t* pixels = nullptr;  // four bytes each; the top left one of the buffer
  std::ptrdiff_t pitch_bytes = 0;
  bool red_first = false;         // else blue, green, red
  PixelRect area;                 // of the buffer: what is captured. Damage and pointer count from the buffer's corner
  bool whole = true;              // all of it may have changed
  std::vector<PixelRect> damage;  // else these, since the last picture that was read
  std::int64_t made_ns = 0;       // by the compositor, on the steady clock; 0: it does not say
};

struct CastPointer {
  bool shown = false;
  int x_px = 0, y_px = 0;             // what it points at
  PixelRect at;                       // its image
  std::vector<std::uint32_t> pixels;  // ARGB, alpha already multiplied
};

// read() and the destructor on one thread; the rest on any.
class CastStream {
 public:
  // remote: a connection to PipeWire; it is closed here. rate: pictures a second, at most. uri: for messages.
  // Throws UnavailableError.
  CastStream(int remote, std::uint32_t node, double rate, const std::string& uri);
  ~CastStream();
  CastStream(const CastStream&) = delete;
  CastStream& operator=(const CastStream&) = delete;

  int fd() const { return event_fd_; }                 // readable: a picture, a pointer or the end has come
  void forget_events() const;                          // fd() is no longer readable
  bool has_changed() const { return changed_; }        // a picture has come
  bool has_pointer_moved() const { return pointed_; }  // or a pointer
  bool has_begun() const { return begun_; }            // its format is known, and pictures may come
  bool is_over() const { return over_; }
  std::string fault() const;                                              // why it is over
  void look(const std::function<void(const CastPicture* picture)>& use);  // as read(), which then finds the same
  // picture: null, if none came since the last call.
  void read(const std::function<void(const CastPicture* picture, const CastPointer& pointer)>& use);

 private:
  class Lock;
  CastStream();
  void connect(std::uint32_t node, double rate, const std::string& uri);
  void take_buffers();
  void take_pointer(const spa_buffer& buffer);
  void take_image(const std::uint8_t* start, std::size_t bytes);
  void take_number(const spa_buffer& buffer);
  void take_damage(const spa_buffer& buffer);
  bool take_pixels(const spa_buffer& buffer);
  void accept(const spa_pod* format);
  void end(const std::string& fault);  // for good
  void notify() const;
  static const pw_stream_events& stream_events();
  static const pw_core_events& core_events();

  int event_fd_ = -1;
  pw_thread_loop* loop_ = nullptr;
  pw_context* context_ = nullptr;
  pw_core* core_ = nullptr;
  pw_stream* stream_ = nullptr;
  spa_hook stream_hook_{}, core_hook_{};
  std::atomic<bool> changed_{false}, pointed_{false}, begun_{false}, over_{false};
  // Under the loop's lock.
  std::string fault_;
  spa_video_info_raw format_{};
  pw_buffer* newest_ = nullptr;  // not yet read
  CastPicture picture_;          // of newest_
  CastPointer pointer_;
  spa_point hot_spot_{};
  std::uint64_t number_ = 0;  // of the last buffer's header
};

}  // namespace saccade::wayland
