#include "pipeline/source/screen/screen_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iterator>
#include <new>
#include <utility>

#include "pipeline/clock.h"
#include "pipeline/error.h"
#include "pipeline/source/frame/frame_pool.h"
#include "pipeline/source/frame/input_name.h"
#include "pipeline/source/screen/screen_capture.h"
#include "pipeline/source/screen/screen_name.h"
#include "pipeline/source/screen/wayland_capture.h"
#include "pipeline/source/screen/x11_capture.h"

extern "C" {
#include <libavutil/buffer.h>
#include <libavutil/frame.h>
#include <libavutil/pixfmt.h>
}

namespace saccade {
namespace {

constexpr std::int64_t kMillisecond_ns = 1'000'000;
constexpr std::int64_t kRepeat_ns = 250 * kMillisecond_ns;  // as often as the eye moves
// Pictures that consumers hold when no new one is made: one is worked on and one waits. A third would cost its copies
// and replace the second. Changes gather meanwhile. After kOld_ns the second is replaced all the same: so a slow
// consumer gets nothing older, and one that keeps pictures gets new ones.
constexpr std::ptrdiff_t kHeld = 2;
constexpr std::int64_t kOld_ns = 100 * kMillisecond_ns;
constexpr std::chrono::milliseconds kBusy{2};  // between looks whether one is free again
constexpr std::int64_t kKept = 32;             // changes: a picture that is older is copied whole

// Pictures that consumers may hold while the screen goes on. One that comes back lacks only what changed since.
class Pictures {
 public:
  Pictures(int width_px, int height_px) : width_px_(width_px), height_px_(height_px) {}
  ~Pictures() {
    for (Picture& picture : pictures_) av_buffer_unref(&picture.buffer);
  }
  Pictures(const Pictures&) = delete;
  Pictures& operator=(const Pictures&) = delete;

  // screen: RGBA, rows without padding. changed: since the call before.
  AvFramePtr take(const std::uint8_t* screen, const std::vector<PixelRect>& changed, AvFramePtr empty);
  // How many are held by consumers.
  std::ptrdiff_t held() const {
    return std::count_if(pictures_.begin(), pictures_.end(),
                         [](const Picture& picture) { return av_buffer_is_writable(picture.buffer) == 0; });
  }

 private:
  struct Picture {
    AVBufferRef* buffer = nullptr;
    std::int64_t change = -1;  // the last that it shows; -1: none
  };
  std::size_t bytes() const { return static_cast<std::size_t>(width_px_) * static_cast<std::size_t>(height_px_) * 4; }
  Picture& free_picture();
  void copy(const std::uint8_t* screen, const PixelRect& rect, Picture& to) const;
  void bring_up(const std::uint8_t* screen, std::ptrdiff_t behind, Picture& to) const;

  int width_px_, height_px_;
  std::vector<Picture> pictures_;
  std::deque<std::vector<PixelRect>> changes_;  // the last ones
  std::int64_t change_ = 0;                     // the newest one's number
};

Pictures::Picture& Pictures::free_picture() {
  for (Picture& picture : pictures_) {
    if (av_buffer_is_writable(picture.buffer) != 0) return picture;
  }
  AVBufferRef* const buffer = av_buffer_alloc(bytes());
  if (buffer == nullptr) throw std::bad_alloc();
  pictures_.push_back({buffer});
  return pictures_.back();
}

void Pictures::copy(const std::uint8_t* screen, const PixelRect& rect, Picture& to) const {
  for (int y = rect.y; y < rect.y + rect.height; ++y) {
    const std::size_t at =
        (static_cast<std::size_t>(y) * static_cast<std::size_t>(width_px_) + static_cast<std::size_t>(rect.x)) * 4;
    std::memcpy(to.buffer->data + at, screen + at, static_cast<std::size_t>(rect.width) * 4);
  }
}

// Copies what the last changes touched, from the newest on. What is inside a rectangle that was copied is up to date.
void Pictures::bring_up(const std::uint8_t* screen, std::ptrdiff_t behind, Picture& to) const {
  std::vector<PixelRect> copied;
  for (auto change = changes_.rbegin(); change != changes_.rbegin() + behind; ++change) {
    for (const PixelRect& rect : *change) {
      if (std::any_of(copied.begin(), copied.end(), [&](const PixelRect& c) { return common(c, rect) == rect; }))
        continue;
      copy(screen, rect, to);
      copied.push_back(rect);
    }
  }
}

AvFramePtr Pictures::take(const std::uint8_t* screen, const std::vector<PixelRect>& changed, AvFramePtr empty) {
  if (!changed.empty()) {
    ++change_;
    changes_.push_back(changed);
    if (changes_.size() > static_cast<std::size_t>(kKept)) changes_.pop_front();
  }
  const auto is_shown = [this](const Picture& picture) { return picture.change == change_; };
  const auto shown = std::find_if(pictures_.begin(), pictures_.end(), is_shown);
  Picture& picture = shown != pictures_.end() ? *shown : free_picture();
  const std::int64_t behind = change_ - picture.change;
  if (picture.change < 0 || behind > static_cast<std::int64_t>(changes_.size())) {
    std::memcpy(picture.buffer->data, screen, bytes());
  } else {
    bring_up(screen, behind, picture);
  }
  picture.change = change_;
  empty->buf[0] = av_buffer_ref(picture.buffer);
  if (empty->buf[0] == nullptr) throw std::bad_alloc();
  empty->data[0] = picture.buffer->data;
  empty->linesize[0] = width_px_ * 4;
  empty->format = AV_PIX_FMT_RGBA;
  empty->width = width_px_;
  empty->height = height_px_;
  return empty;
}

std::unique_ptr<ScreenCapture> open_capture(const SourceConfig& config, const ScreenName& name, ScreenSize size) {
  if (name.system == ScreenSystem::kWayland)
    return std::make_unique<wayland::Capture>(name, config, size.width_px, size.height_px);
  return std::make_unique<x11::Capture>(name, config.uri, size.width_px, size.height_px, config.log);
}

class ScreenSource final : public FrameSource {
 public:
  ScreenSource(const SourceConfig& config, const ScreenName& name, std::optional<ScreenSize> size);
  ReadStatus next(Frame& out) override;
  StreamEnd end() const override { return end_; }
  void interrupt() override {
    *stop_ = true;
    capture_->wake();
  }
  void recycle(Frame frame) override { empty_frames_.give(frame.release()); }

 private:
  bool wait();
  void show(Frame& out);

  const std::shared_ptr<std::atomic<bool>> stop_;
  const Log log_;
  const std::unique_ptr<ScreenCapture> capture_;
  Pictures pictures_;
  EmptyFrames empty_frames_;
  const std::int64_t period_ns_;
  StreamEnd end_;
  std::int64_t start_ns_ = 0, last_ns_ = 0;
  std::int64_t due_ns_ = 0;      // a change is shown from then on
  std::int64_t noticed_ns_ = 0;  // since when something has changed; 0: nothing has
};

ScreenSource::ScreenSource(const SourceConfig& config, const ScreenName& name, std::optional<ScreenSize> size)
    : stop_(config.stop ? config.stop : std::make_shared<std::atomic<bool>>(false)),
      log_(config.log),
      capture_(open_capture(config, name, size.value_or(ScreenSize{}))),
      pictures_(capture_->picture().width_px(), capture_->picture().height_px()),
      period_ns_(static_cast<std::int64_t>(1e9 / name.rate)) {
  check_pixels(config, capture_->picture().width_px(), capture_->picture().height_px());
  info_.uri = config.uri;
  info_.container = "screen";
  info_.codec = "rawvideo";
  info_.pixel_format = "bgr0";
  info_.decoder = capture_->decoder();
  info_.coded_width_px = info_.width_px = capture_->picture().width_px();
  info_.coded_height_px = info_.height_px = capture_->picture().height_px();
  info_.layout = PixelLayout::kRgba8;
  info_.color.range = ColorRange::kFull;
  info_.matrix_tagged = info_.range_tagged = true;
  info_.live = true;
  info_.has_noise = false;
  info_.has_pointer = true;
  info_.notes.push_back(
      fmt::format("captures {}, {}", capture_->text(), name.pointer ? "with the pointer" : "without the pointer"));
  if (name.cues && name.system == ScreenSystem::kX11) {
    info_.notes.push_back(
        "asks which window has the focus and when keys are pressed, not which keys (cues=no does not)");
  }
}

// Until a frame is due, or a moment is over. False: the capture is over.
bool ScreenSource::wait() {
  if (counters_.frames == 0) return capture_->wait(std::chrono::milliseconds(0));
  const auto until = [](std::int64_t moment_ns) {
    const std::int64_t left_ns = std::max<std::int64_t>(moment_ns - steady_now_ns(), 0);
    return std::chrono::milliseconds((left_ns + kMillisecond_ns - 1) / kMillisecond_ns);
  };
  if (!capture_->has_changed() && !capture_->wait(until(last_ns_ + kRepeat_ns))) return false;
  if (!capture_->has_changed()) return true;
  if (noticed_ns_ == 0) noticed_ns_ = steady_now_ns();
  capture_->pause(until(due_ns_));
  return capture_->wait(std::chrono::milliseconds(0));
}

void ScreenSource::show(Frame& out) {
  const std::int64_t now_ns = steady_now_ns();
  std::vector<PixelRect> changed = capture_->read();
  AvFramePtr picture = pictures_.take(capture_->picture().data(), changed, empty_frames_.take());
  const std::int64_t noticed_ns = noticed_ns_ != 0 ? noticed_ns_ : now_ns, made_ns = capture_->made_ns();
  attach_origin(*picture, {.captured_ns = made_ns != 0 ? made_ns : noticed_ns, .arrived_ns = now_ns});
  if (counters_.frames == 0) start_ns_ = now_ns;
  out = Frame(std::move(picture), {.layout = info_.layout, .color = info_.color}, now_ns - start_ns_, counters_.frames);
  out.differs_in(std::move(changed));
  out.set_cues(capture_->cues());
  ++counters_.frames;
  last_ns_ = now_ns;
  due_ns_ = std::max(due_ns_, now_ns - period_ns_ / 2) + period_ns_;  // a late frame does not delay all that follow
  noticed_ns_ = 0;
}

ReadStatus ScreenSource::next(Frame& out) {
  if (*stop_) return ReadStatus::kEnd;
  if (!wait()) {
    end_ = capture_->end();
    counters_.truncated = true;
    if (!end_.broke) log_.warn("{}: {}", info_.uri, end_.reason);
    return ReadStatus::kEnd;
  }
  if (*stop_) return ReadStatus::kEnd;
  const std::int64_t now_ns = steady_now_ns();
  if (counters_.frames != 0) {
    const bool changed = capture_->has_changed();
    if (now_ns < (changed ? due_ns_ : last_ns_ + kRepeat_ns)) return ReadStatus::kAgain;
    if (changed && pictures_.held() >= kHeld && now_ns < last_ns_ + kOld_ns) {
      capture_->pause(kBusy);
      return ReadStatus::kAgain;
    }
  }
  show(out);
  return ReadStatus::kOk;
}

// scheme: what names of its parts begin with.
void list_x11(const std::string& scheme, std::vector<ScreenPart>& parts) {
  const char* const display = std::getenv("DISPLAY");
  if (display == nullptr || *display == '\0') return;
  ScreenPart screen{scheme, fmt::format("the screen of display {}", display)};
  std::vector<ScreenPart> within;
  try {
    const x11::Connection connection("", scheme);
    screen.width_px = connection.area().width;
    screen.height_px = connection.area().height;
    for (const x11::Output& output : x11::outputs(connection)) {
      within.push_back({fmt::format("{}?output={}", scheme, output.name),
                        fmt::format("an output, at {},{}", output.area.x, output.area.y), output.area.width,
                        output.area.height});
    }
    for (const x11::Window& window : x11::windows(connection)) {
      within.push_back(
          {fmt::format("{}?window=0x{:x}", scheme, window.id), window.title, window.width_px, window.height_px});
    }
  } catch (const UnavailableError& error) {
    screen.fault = error.fault().what;
  }
  parts.push_back(std::move(screen));
  std::move(within.begin(), within.end(), std::back_inserter(parts));
}

}  // namespace

std::unique_ptr<FrameSource> open_screen(const SourceConfig& config, std::optional<ScreenSize> size) {
  const ScreenName name = parse_screen_name(config.uri);
  refuse_decoding(config, "a screen", "captured");
  try {
    return std::make_unique<ScreenSource>(config, name, size);
  } catch (const wayland::Refused&) {
    throw;
  } catch (const UnavailableError& error) {
    if (!size) throw;
    Fault fault = error.fault();
    fault.kind = ErrorKind::kInput;
    throw InputError(fault);
  }
}

bool may_show_window(const std::string& uri, const std::string& title) {
  if (!uri.starts_with(kScreenScheme)) return false;
  const ScreenName name = parse_screen_name(uri);
  const char* const display = std::getenv("DISPLAY");
  if (!name.window.empty() || (!name.display.empty() && display != nullptr && name.display != display)) return false;
  return std::none_of(name.hidden_windows.begin(), name.hidden_windows.end(),
                      [&](const std::string& hidden) { return title.find(hidden) != std::string::npos; });
}

std::vector<ScreenPart> list_screen() {
  std::vector<ScreenPart> parts;
  const bool wayland = parse_screen_name(std::string(kScreenScheme)).system == ScreenSystem::kWayland;
  if (wayland) {
    const std::string scheme(kScreenScheme);
    parts.push_back({.uri = scheme, .title = "a monitor, chosen in the desktop's dialog", .driver = "pipewire"});
    parts.push_back({.uri = scheme + "?window=any", .title = "a window, chosen there", .driver = "pipewire"});
  }
  list_x11(wayland ? "screen:x11" : "screen:", parts);
  return parts;
}

}  // namespace saccade
