// What one page has been sent and has not drawn yet: at most two pictures are on their way, and the newest wins. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace saccade::ui {

// A picture as it goes to every page: header and JPEG.
struct ServedPicture {
  std::uint32_t seq = 0;
  std::uint8_t rung = 0;
  std::vector<std::uint8_t> bytes;
};
using ServedPicturePtr = std::shared_ptr<const ServedPicture>;

// One thread.
class ClientFlow {
 public:
  static constexpr std::size_t kInFlight = 2;
  static constexpr std::int64_t kStalled_ns = 5'000'000'000;

  // Replaces the one that waits.
  void offer(ServedPicturePtr picture) { waiting_ = std::move(picture); }
  // The picture to send now; null: none waits, or too many are on their way.
  ServedPicturePtr take(std::int64_t now_ns);

  struct Drawn {
    std::uint8_t rung;
    std::size_t bytes;
    double ms;   // since it was sent
    bool alone;  // nothing else was on its way then
  };
  // The page drew this one. nullopt: it was not on its way.
  std::optional<Drawn> acknowledge(std::uint32_t seq, std::int64_t now_ns);

  // Whether a new picture could be sent at once; pictures_coming: those that are being made for all.
  bool is_ready(std::size_t pictures_coming) const;
  // A page that acknowledges nothing for kStalled_ns watches no more, until it does.
  bool is_stalled(std::int64_t now_ns) const;
  bool watches(std::int64_t now_ns) const { return !hidden_ && !is_stalled(now_ns); }
  void hide(bool hidden) { hidden_ = hidden; }
  bool hidden() const { return hidden_; }

 private:
  struct OnItsWay {
    std::uint32_t seq;
    std::uint8_t rung;
    std::size_t bytes;
    std::int64_t sent_ns;
    bool alone;
  };
  ServedPicturePtr waiting_;
  std::deque<OnItsWay> on_their_way_;
  bool hidden_ = false;
};

}  // namespace saccade::ui
