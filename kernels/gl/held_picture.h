// The held picture on GL, by a compute shader. See Note [Held picture] in kernels/held_picture.h.
#pragma once

#include <cstdint>

#include "gpu/gl/objects.h"
#include "gpu/gl/readback.h"
#include "kernels/held_changes.h"

namespace saccade {

class GlTexture;

// Throws gl::GlError.
class GlHeldPicture final : public DeviceHeldPicture {
 public:
  GlHeldPicture(const GlTexture& texture, bool persistent, const ErrorMeasure& measure);
  ~GlHeldPicture() override;
  GlHeldPicture(const GlHeldPicture&) = delete;
  GlHeldPicture& operator=(const GlHeldPicture&) = delete;

  TileErrors measure() override;
  void queue() override;

 private:
  std::int64_t error_bytes() const;

  const GlTexture& texture_;
  gl::Program program_;
  gl::Buffer held_, held_chroma_;               // luma; of each tile
  gl::Buffer changes_on_gpu_, changed_on_gpu_;  // HeldChanges
  gl::Readback errors_;
  gl::Sync done_;
};

}  // namespace saccade
