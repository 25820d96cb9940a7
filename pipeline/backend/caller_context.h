// A backend makes OpenGL contexts current on the thread that calls it; the thread's own comes back afterwards.
#pragma once

#include <memory>

namespace saccade {

namespace gl {
class EglCurrent;
}

// After its life the thread's EGL context, display, surfaces and bound API are what they were before, or none.
class CallerContext {
 public:
  explicit CallerContext(bool needed);  // false: does nothing
  ~CallerContext();
  CallerContext(const CallerContext&) = delete;
  CallerContext& operator=(const CallerContext&) = delete;

 private:
  std::unique_ptr<gl::EglCurrent> before_;
};

}  // namespace saccade
