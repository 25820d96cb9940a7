#include "gpu/gl/timer.h"

namespace saccade::gl {

Timer::Timer(const Capabilities& capabilities) : enabled_(capabilities.timer_queries) {
  if (!enabled_) return;
  for (Pair& pair : pairs_) pair = {Query(GL_TIMESTAMP), Query(GL_TIMESTAMP)};
}

Timer Timer::of_hardware(Capabilities capabilities) {
  capabilities.timer_queries = capabilities.timer_queries && !capabilities.software;
  return Timer(capabilities);
}

void Timer::begin() {
  open_ = enabled_ && written_ - read_ < kDepth;
  if (!open_) return;
  glQueryCounter(pairs_[static_cast<std::size_t>(written_ % kDepth)].begin.name(), GL_TIMESTAMP);
}

void Timer::end() {
  ++frames_;
  if (!open_) return;
  const auto slot = static_cast<std::size_t>(written_ % kDepth);
  glQueryCounter(pairs_[slot].end.name(), GL_TIMESTAMP);
  frame_of_[slot] = frames_;
  ++written_;
  open_ = false;
}

std::optional<std::int64_t> Timer::poll_ns() {
  const auto slot = static_cast<std::size_t>(read_ % kDepth);
  if (read_ == written_ || frames_ - frame_of_[slot] < kDelay) return std::nullopt;
  const Pair& pair = pairs_[slot];
  GLint available = GL_FALSE;
  glGetQueryObjectiv(pair.end.name(), GL_QUERY_RESULT_AVAILABLE, &available);
  if (available == GL_FALSE) return std::nullopt;
  GLuint64 from = 0;
  GLuint64 to = 0;
  glGetQueryObjectui64v(pair.begin.name(), GL_QUERY_RESULT, &from);
  glGetQueryObjectui64v(pair.end.name(), GL_QUERY_RESULT, &to);
  ++read_;
  return static_cast<std::int64_t>(to - from);
}

}  // namespace saccade::gl
