#include "ui/viewer/frame_rate.h"

namespace saccade::ui {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;
constexpr std::int64_t kSilent_ns = 5 * kSecond_ns;

}  // namespace

void FrameRate::note(std::int64_t now_ns) { shown_ns_.push_back(now_ns); }

double FrameRate::per_s(std::int64_t now_ns) {
  while (shown_ns_.size() > 2 && now_ns - shown_ns_.front() > kSecond_ns) shown_ns_.pop_front();
  if (shown_ns_.size() < 2 || now_ns - shown_ns_.back() > kSilent_ns) return 0;
  const auto intervals = static_cast<double>(shown_ns_.size() - 1);
  const auto spanned_ns = static_cast<double>(shown_ns_.back() - shown_ns_.front());
  const auto since_ns = static_cast<double>(now_ns - shown_ns_.back());
  // A frame that is later than two of them take is missing.
  const double all_ns = since_ns > 2 * spanned_ns / intervals ? spanned_ns + since_ns : spanned_ns;
  return all_ns > 0 ? intervals * static_cast<double>(kSecond_ns) / all_ns : 0;
}

}  // namespace saccade::ui
