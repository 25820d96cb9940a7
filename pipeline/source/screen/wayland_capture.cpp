#include "pipeline/source/screen/wayland_capture.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "pipeline/clock.h"
#include "pipeline/error.h"

namespace saccade::wayland {
namespace {

constexpr std::chrono::seconds kBeginPatience{10}, kReportAfter{2};
constexpr std::chrono::milliseconds kMoment{100};
constexpr std::chrono::milliseconds kWhyPatience{500};
constexpr std::int64_t kOldest_ns = 1'000'000'000;  // a time beyond is of another clock

// What the portal is asked for. It has no way to name a window or a monitor.
Sharing sharing_of(const ScreenName& name, const std::string& uri) {
  for (const std::string* const part : {&name.window, &name.output}) {
    if (part->empty() || *part == "any") continue;
    const char* const key = part == &name.window ? "window" : "output";
    throw UsageError(
        fmt::format("{}: on Wayland no program can name a {}; write {}=any, and the desktop's dialog asks which{}", uri,
                    part == &name.window ? "window" : "monitor", key,
                    part == &name.window ? " (screen:x11?window=... captures a window of Xwayland)" : ""));
  }
  return name.window.empty() ? Sharing::kMonitor : Sharing::kWindow;
}

PortalRequest request_of(const ScreenName& name, const SourceConfig& config) {
  load_pipewire_calls(config.uri);  // before a person is asked
  return {config.uri, sharing_of(name, config.uri), name.pointer, name.restore, config.stop};
}

PixelRect moved(const PixelRect& rect, const PixelRect& to) {
  return {rect.x - to.x, rect.y - to.y, rect.width, rect.height};
}

}  // namespace

Capture::Capture(const ScreenName& name, const SourceConfig& config, int width_px, int height_px)
    : ScreenCapture(config.uri, config.log),
      region_(name.region),
      draws_pointer_(name.pointer),
      portal_(request_of(name, config), config.log) {
  stream_ = std::make_unique<CastStream>(portal_.take_remote(), portal_.node(), name.rate, config.uri);
  text_ = name.window.empty() ? "a monitor that the desktop shares" : "a window that the desktop shares";
  cues_.weigh = name.cues;
  wait_for_first(config, width_px, height_px);
  if (const std::string black = describe_hidden(name); !black.empty()) text_ += fmt::format(", where {}", black);
  std::vector<PixelRect> hidden = name.hidden_regions;
  for (PixelRect& rect : hidden) rect = moved(rect, region_.value_or(PixelRect{}));
  picture_.hide(std::move(hidden));
}

Capture::~Capture() = default;

// Some compositors draw the first one only once something on the screen changes.
void Capture::wait_for_first(const SourceConfig& config, int width_px, int height_px) {
  const auto begin = std::chrono::steady_clock::now();
  const auto has_waited = [begin](std::chrono::seconds time) {
    return std::chrono::steady_clock::now() >= begin + time;
  };
  bool there = false, reported = false;
  while (!there) {
    const bool goes_on = wait(kMoment);
    stream_->look([&](const CastPicture* picture) {
      there = picture != nullptr;
      if (there) area_ = picture->area;
    });
    if (there) break;
    if (config.stop && *config.stop)
      throw Error(ErrorKind::kInterrupted, fmt::format("{}: interrupted while it was being opened", uri_));
    if (!goes_on) throw UnavailableError(fmt::format("{}: {}", uri_, end().reason));
    if (!stream_->has_begun() && has_waited(kBeginPatience)) {
      throw UnavailableError(fmt::format("{}: the desktop shares a screen, but its stream did not begin within {} s",
                                         uri_, kBeginPatience.count()));
    }
    if (!reported && has_waited(kReportAfter)) {
      log_.info("{}: waits for the first picture: the desktop sends it once something on the screen changes", uri_);
      reported = true;
    }
  }
  if (region_) {
    if (common(*region_, {0, 0, area_.width, area_.height}) != *region_) {
      throw InputError(fmt::format("{}: the region {},{},{},{} does not lie on {}, which has {}x{} pixels", uri_,
                                   region_->x, region_->y, region_->width, region_->height, text_, area_.width,
                                   area_.height));
    }
    text_ =
        fmt::format("a region of {}x{} at {},{} of {}", region_->width, region_->height, region_->x, region_->y, text_);
  }
  area_ = wanted_part(area_);
  picture_ = ScreenPicture(width_px > 0 ? width_px : area_.width, height_px > 0 ? height_px : area_.height);
}

PixelRect Capture::wanted_part(const PixelRect& area) const {
  if (!region_) return area;
  const PixelRect part = common({area.x + region_->x, area.y + region_->y, region_->width, region_->height}, area);
  return is_empty(part) ? PixelRect{} : part;
}

bool Capture::wait(std::chrono::milliseconds longest) {
  portal_.process();
  if (!has_changed() && !is_over() && longest.count() > 0) {
    std::array<pollfd, 3> files{{{stream_->fd(), POLLIN, 0}, {portal_.fd(), POLLIN, 0}, {wake_fd_, POLLIN, 0}}};
    poll(files.data(), files.size(), static_cast<int>(longest.count()));
    portal_.process();
  }
  stream_->forget_events();
  if (stream_->is_over() && !portal_.is_closed()) {  // the portal may say why a little later
    pollfd file{portal_.fd(), POLLIN, 0};
    poll(&file, 1, static_cast<int>(kWhyPatience.count()));
    portal_.process();
  }
  return !is_over();
}

StreamEnd Capture::end() const {
  if (portal_.is_closed()) return {.reason = "the desktop has ended the sharing"};
  if (portal_.is_lost()) return {.broke = true, .reason = "the desktop's portal has gone"};
  return {.broke = true, .reason = fmt::format("the desktop's stream has ended: {}", stream_->fault())};
}

std::vector<PixelRect> Capture::read() {
  std::vector<PixelRect> changed;
  made_ns_ = 0;
  stream_->read([&](const CastPicture* picture, const CastPointer& pointer) {
    cover_pointer(changed);
    if (picture != nullptr) copy(*picture, changed);
    if (portal_.pointer() == PointerAs::kData) follow_pointer(pointer, changed);
  });
  return changed;
}

void Capture::copy(const CastPicture& from, std::vector<PixelRect>& changed) {
  const PixelRect area = wanted_part(from.area);
  const bool other_size = area.width != area_.width || area.height != area_.height;
  const bool moved_on = area != area_;
  area_ = area;
  if (other_size) {
    report_size(area.width, area.height);
    picture_.blacken();
  }
  const std::int64_t now_ns = steady_now_ns();
  made_ns_ = from.made_ns > now_ns - kOldest_ns && from.made_ns <= now_ns ? from.made_ns : 0;
  const PixelRect seen = this->seen();
  std::vector<PixelRect> rects;
  if (from.whole || moved_on) {
    rects.push_back(other_size ? picture_.area() : seen);
  } else {
    for (const PixelRect& rect : from.damage) rects.push_back(common(moved(rect, area), seen));
  }
  merge_if_many(rects);
  for (const PixelRect& rect : rects) {
    if (is_empty(rect)) continue;
    changed.push_back(rect);
    const PixelRect part = common(rect, seen);
    if (is_empty(part)) continue;
    const std::uint8_t* const pixels =
        from.pixels + (area.y + part.y) * from.pitch_bytes + std::ptrdiff_t{area.x + part.x} * 4;
    picture_.copy(pixels, from.pitch_bytes, part, from.red_first);
  }
}

// What the pointer covered comes back.
void Capture::cover_pointer(std::vector<PixelRect>& changed) {
  if (is_empty(pointer_area_)) return;
  const std::ptrdiff_t bytes = std::ptrdiff_t{pointer_area_.width} * 4;
  for (int y = 0; y < pointer_area_.height; ++y) {
    std::memcpy(picture_.row(pointer_area_.y + y, pointer_area_.x), under_.data() + y * bytes,
                static_cast<std::size_t>(bytes));
  }
  changed.push_back(pointer_area_);
  pointer_area_ = {};
}

void Capture::follow_pointer(const CastPointer& pointer, std::vector<PixelRect>& changed) {
  point_nowhere();
  if (!pointer.shown) return;
  point_at(pointer.x_px - area_.x, pointer.y_px - area_.y, seen());
  if (draws_pointer_) draw_pointer(pointer, changed);
}

void Capture::draw_pointer(const CastPointer& pointer, std::vector<PixelRect>& changed) {
  const PixelRect at = moved(pointer.at, area_);
  pointer_area_ = common(at, seen());
  if (is_empty(pointer_area_)) return;
  const std::ptrdiff_t bytes = std::ptrdiff_t{pointer_area_.width} * 4;
  under_.resize(static_cast<std::size_t>(bytes * pointer_area_.height));
  for (int y = 0; y < pointer_area_.height; ++y) {
    std::memcpy(under_.data() + y * bytes, picture_.row(pointer_area_.y + y, pointer_area_.x),
                static_cast<std::size_t>(bytes));
  }
  picture_.draw(pointer.pixels, at, pointer_area_);
  changed.push_back(pointer_area_);
}

}  // namespace saccade::wayland
