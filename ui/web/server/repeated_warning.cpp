#include "ui/web/server/repeated_warning.h"

#include <fmt/format.h>

#include <utility>

namespace saccade::ui {
namespace {

constexpr std::int64_t kMinute_ns = 60'000'000'000;

}  // namespace

std::string RepeatedWarning::came(std::string line, std::int64_t now_ns) {
  line_ = std::move(line);
  if (said_ && now_ns - said_ns_ < kMinute_ns) {
    ++waiting_;
    return {};
  }
  if (waiting_ > 0) {
    ++waiting_;
    return due(now_ns);
  }
  said_ = true;
  said_ns_ = now_ns;
  return line_;
}

std::string RepeatedWarning::due(std::int64_t now_ns, bool last) {
  if (waiting_ == 0 || (!last && now_ns - said_ns_ < kMinute_ns)) return {};
  said_ns_ = now_ns;
  const std::int64_t count = std::exchange(waiting_, 0);
  return count == 1 ? line_ : fmt::format("{} ({} times)", line_, count);
}

}  // namespace saccade::ui
