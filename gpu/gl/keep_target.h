// Drawing elsewhere for a while.
#pragma once

#include <glad/gl.h>

namespace saccade::gl {

// The framebuffer that is bound, and the viewport, are again what they were when it goes.
class KeepTarget {
 public:
  KeepTarget() {
    glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &framebuffer_);
    glGetIntegerv(GL_VIEWPORT, viewport_);
  }
  KeepTarget(const KeepTarget&) = delete;
  KeepTarget& operator=(const KeepTarget&) = delete;
  ~KeepTarget() {
    glBindFramebuffer(GL_FRAMEBUFFER, static_cast<GLuint>(framebuffer_));
    glViewport(viewport_[0], viewport_[1], viewport_[2], viewport_[3]);
  }

 private:
  GLint framebuffer_ = 0;
  GLint viewport_[4] = {};
};

}  // namespace saccade::gl
