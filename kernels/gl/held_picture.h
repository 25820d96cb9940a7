// The held picture on GL, by a compute shader. See Note [Held picture] in kernels/held_picture.h.
#pragma once

#include <cstdint>
#include <span>

#include "gpu/gl/objects.h"
#include "gpu/gl/readback.h"
#include "kernels/held_changes.h"
#include "kernels/held_picture.h"

namespace saccade {

class GlTexture;

// One dispatch a look and one a hold(). measure() alone waits. Throws gl::GlError.
class GlHeldPicture final : public HeldPicture {
 public:
  GlHeldPicture(const GlTexture& texture, bool persistent, const ErrorMeasure& measure);
  ~GlHeldPicture() override;
  GlHeldPicture(const GlHeldPicture&) = delete;
  GlHeldPicture& operator=(const GlHeldPicture&) = delete;

  int levels() const override { return levels_; }
  void note(const Damage& damage) override { changes_.note(damage); }
  TileErrors measure() override;
  void hold(std::span<const Square> squares) override;
  void forget() override { changes_.forget(); }
  void forget(const TileRect& tiles) override { changes_.forget(tiles); }

 private:
  void dispatch();
  std::int64_t error_bytes() const;

  const GlTexture& texture_;
  ErrorMeasure measure_;
  int levels_;
  HeldChanges changes_;
  gl::Program program_;
  gl::Buffer held_, held_chroma_;               // luma; of each tile
  gl::Buffer changes_on_gpu_, changed_on_gpu_;  // HeldChanges
  gl::Readback errors_;
  gl::Sync done_;
};

}  // namespace saccade
