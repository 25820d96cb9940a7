#include "ui/web/wire/client_flow.h"

#include <algorithm>

namespace saccade::ui {

ServedPicturePtr ClientFlow::take(std::int64_t now_ns) {
  if (!waiting_ || hidden_ || on_their_way_.size() >= kInFlight) return nullptr;
  ServedPicturePtr picture = std::exchange(waiting_, nullptr);
  on_their_way_.push_back({picture->seq, picture->rung, picture->bytes.size(), now_ns, on_their_way_.empty()});
  return picture;
}

// Pictures arrive in order, so those before it are done with as well.
std::optional<ClientFlow::Drawn> ClientFlow::acknowledge(std::uint32_t seq, std::int64_t now_ns) {
  const auto found = std::find_if(on_their_way_.begin(), on_their_way_.end(),
                                  [seq](const OnItsWay& picture) { return picture.seq == seq; });
  if (found == on_their_way_.end()) return std::nullopt;
  const Drawn drawn{found->rung, found->bytes, static_cast<double>(now_ns - found->sent_ns) * 1e-6, found->alone};
  on_their_way_.erase(on_their_way_.begin(), found + 1);
  return drawn;
}

bool ClientFlow::is_ready(std::size_t pictures_coming) const {
  return !hidden_ && !waiting_ && on_their_way_.size() + pictures_coming < kInFlight;
}

bool ClientFlow::is_stalled(std::int64_t now_ns) const {
  return !on_their_way_.empty() && now_ns - on_their_way_.front().sent_ns > kStalled_ns;
}

}  // namespace saccade::ui
