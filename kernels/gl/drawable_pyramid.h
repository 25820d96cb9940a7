// A pyramid whose texels are GL textures that a viewer can draw from, whoever writes them.
#pragma once

#include "kernels/gl/planes.h"
#include "kernels/pyramid.h"
#include "kernels/upload_planner.h"

namespace saccade {

// GPU times of the latest measured frame, two or more frames old; 0 until there is one.
struct GlTimes {
  double upload_ms = 0, mips_ms = 0, sample_ms = 0;
};

class DrawablePyramid : public Pyramid {
 public:
  virtual const GlPlane& plane(int index) const = 0;
  virtual const UploadPlan& last_upload() const = 0;  // rectangles valid until the next upload; none without GL calls
  virtual const GlTimes& times() const = 0;
};

}  // namespace saccade
