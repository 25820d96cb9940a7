// A texture that a viewer can draw from: its texels are GL textures, whoever writes them.
#pragma once

#include "kernels/pyramid_layout.h"
#include "kernels/upload_planner.h"

namespace saccade {

// GPU times of the latest measured frame, two or more frames old; 0 until there is one.
struct GlTimes {
  double upload_ms = 0, mips_ms = 0, sample_ms = 0;
};

// What TextureCapabilities::drawable gives. The context must be current in every call.
class DrawableTexture {
 public:
  virtual const PyramidLayout& layout() const = 0;
  virtual unsigned texture(int plane) const = 0;      // OpenGL's name of a plane's, with its levels; it filters
  virtual const UploadPlan& last_upload() const = 0;  // rectangles valid until the next upload; none without GL calls
  virtual const GlTimes& times() const = 0;

 protected:
  ~DrawableTexture() = default;
};

}  // namespace saccade
