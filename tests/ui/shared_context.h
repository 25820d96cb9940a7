// The OpenGL context of the tests that draw.
#pragma once

#include <memory>

#include "gpu/gl/context.h"

namespace saccade::ui {

// Made once a process; null where this machine gives none.
inline gl::Context* shared_context() {
  static const std::unique_ptr<gl::Context> context = []() -> std::unique_ptr<gl::Context> {
    try {
      return std::make_unique<gl::Context>(gl::Context::offscreen());
    } catch (const gl::GlError&) {
      return nullptr;
    }
  }();
  return context.get();
}

}  // namespace saccade::ui
