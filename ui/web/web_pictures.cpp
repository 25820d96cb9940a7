#include "ui/web/web_pictures.h"

#include <algorithm>
#include <utility>

#include "pipeline/clock.h"

namespace saccade::ui {
namespace {

constexpr std::int64_t kSharp_ns = 150'000'000;  // what stood still so long is sent once more, sharp
constexpr std::int64_t kMostSharp_ns = 2'000'000'000;
constexpr double kSharp_bytes = 400e3;  // about, for 1280x720

}  // namespace

WebPictures::WebPictures(const gl::Context& context, WebServer& server, Alarm& alarm, const Log& log)
    : server_(server),
      reader_(context),
      encoder_(
          [&server, &alarm](ServedPicturePtr picture) {
            server.publish(std::move(picture));
            alarm.ring();
          },
          log) {}

bool WebPictures::send(std::uint32_t applied, std::int64_t pts_ns) {
  DrawnPicture picture{encoder_.take_storage(), {}};
  reader_.read(picture.pixels);
  const bool same = picture.pixels.width_px == sent_.width_px && picture.pixels.rgba == sent_.rgba;
  if (!std::exchange(force_, false) && same) return false;
  sent_ = picture.pixels;
  picture.header.rung = static_cast<std::uint8_t>(server_.rung());
  picture.header.seq = ++seq_;
  picture.header.applied = applied;
  picture.header.width_px = static_cast<std::uint16_t>(picture.pixels.width_px);
  picture.header.height_px = static_cast<std::uint16_t>(picture.pixels.height_px);
  picture.header.pts_ns = pts_ns;
  encoder_.encode(std::move(picture));
  sent_at_ns_ = steady_now_ns();
  sharp_ = false;
  return true;
}

// On a narrow link a sharp picture would stand before the answer to the next click: it waits until that is unlikely.
std::int64_t WebPictures::sharpen(std::int64_t now_ns) {
  if (sharp_) return 0;
  const double rate = server_.bytes_per_s();
  const auto sending_ns = rate > 0 ? static_cast<std::int64_t>(2 * kSharp_bytes / rate * 1e9) : 0;
  const std::int64_t at_ns = sent_at_ns_ + std::clamp(sending_ns, kSharp_ns, kMostSharp_ns);
  if (now_ns < at_ns) return at_ns;
  if (!server_.audience(encoder_.pictures() + 1).ready) return 0;  // an acknowledgement wakes us
  encoder_.sharpen(++seq_);
  sharp_ = true;
  return 0;
}

}  // namespace saccade::ui
