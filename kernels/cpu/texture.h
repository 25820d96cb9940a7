// Backend cpu: the texture in host memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/cpu/differ.h"
#include "kernels/cpu/pyramid.h"
#include "kernels/held_picture.h"
#include "kernels/texture.h"

namespace saccade {

// An update goes over the frame once: each row of tiles is compared, written and made into levels while it is in the
// cache. Staged, it makes three passes, to the same bits.
class CpuTexture final : public Texture, public StagedTexture, public ReusableTexture {
 public:
  explicit CpuTexture(const PyramidLayout& layout, const DiffConfig& diff = {}, bool staged = false,
                      const CpuOps& ops = simd_ops());

  const PyramidLayout& layout() const override { return pyramid_.layout(); }
  void update(const FrameView& frame) override;
  const Damage& damage() override { return differ_.damage(); }
  std::int64_t bytes_written() override { return bytes_; }
  void damage_everything() override { differ_.damage_everything(); }
  void configure(const DiffConfig& config) override { differ_.configure(config); }
  void sample(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch) override {
    pyramid_.sample(plan, color, batch);
  }
  // Copies what did not change since the last call from a batch of its own: a small part of what sampling costs.
  // Allocates when N, S or the format change.
  void submit(const PatchPlan& plan, const ColorSpec& color, std::span<const std::uint8_t> changed,
              PatchBatch& batch) override;
  void read_texels(int plane, int level, const TexelRect& part, std::uint8_t* out,
                   std::ptrdiff_t pitch_bytes) const override {
    pyramid_.read_texels(plane, level, part, out, pitch_bytes);
  }

  TextureCapabilities capabilities() override { return {.staged = staged_ ? this : nullptr, .reusable = this}; }
  std::unique_ptr<HeldPicture> make_held_picture(const ErrorMeasure& measure) const override;
  const Damage& diff(const FrameView& frame) override { return differ_.diff(frame); }
  std::int64_t upload(const FrameView& frame, const Damage& damage) override;
  void refresh_mips(const Damage& damage) override { pyramid_.refresh_mips(damage); }
  void start_over(const DiffConfig& config) override;

 private:
  CpuPyramid pyramid_;
  CpuTileDiffer differ_;
  bool staged_;
  std::int64_t bytes_ = 0;
  // The last batch submitted
  PatchBatch last_;
  std::vector<Patch> places_;         // of last_
  std::vector<std::uint8_t> wanted_;  // per patch: 1 where it must be sampled
};

}  // namespace saccade
