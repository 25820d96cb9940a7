#include "gpu/gl/egl.h"
#include "pipeline/backend/caller_context.h"

namespace saccade {

CallerContext::CallerContext(bool needed) : before_(needed ? std::make_unique<gl::EglCurrent>() : nullptr) {}
CallerContext::~CallerContext() = default;

}  // namespace saccade
