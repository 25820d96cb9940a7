// Sends rectangles of level 0 from its host copy to the GL textures.
#pragma once

#include <cstdint>
#include <span>

#include "gpu/gl/pbo_ring.h"
#include "kernels/cpu/pyramid.h"
#include "kernels/gl/planes.h"
#include "kernels/upload_planner.h"

namespace saccade {

// Borrows planes and shadow; both outlive it. Owning thread only; push() allocates nothing.
class GlUploader {
 public:
  GlUploader(const gl::Capabilities& capabilities, std::span<const GlPlane> planes, const CpuPyramid& shadow,
             UploadPath path);

  void push(std::span<const TileRect> rects);

  // Levels 1 and up of the same rectangles, where the host copy has them (GlWork::kHost).
  void push_mips(std::span<const TileRect> rects) const;

  // Times single tiles against everything, waiting for GL: setup only, while level 0 holds nothing yet.
  UploadCost calibrate(bool with_mips);

 private:
  void push_direct(std::span<const TileRect> rects, int plane, int level) const;
  void push_packed(std::span<const TileRect> rects);
  double time_us(std::span<const TileRect> rects, bool with_mips);

  std::span<const GlPlane> planes_;
  const CpuPyramid& shadow_;
  UploadPath path_;
  gl::PboRing ring_;
};

}  // namespace saccade
