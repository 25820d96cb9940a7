// The second seam: the persistent texture and its mip levels, wherever they live.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/damage.h"
#include "kernels/frame_view.h"
#include "kernels/patch_batch.h"
#include "kernels/patch_plan.h"
#include "kernels/pyramid_layout.h"

namespace saccade {

// One level of one plane, tightly packed rows, native endian.
struct LevelImage {
  int width = 0;
  int height = 0;
  int channels = 0;
  int bytes_per_channel = 0;
  std::vector<std::uint8_t> data;
};

// By events around the work in the device's own queue, read frames later so that nobody waits for them.
struct DeviceTime {
  enum class Work : std::uint8_t { kDiff, kUpload, kMips, kUpdate, kSample } work = Work::kUpdate;
  std::int64_t ns = 0;
};
inline constexpr std::size_t kDeviceWorks = 5;
const char* name(DeviceTime::Work work);  // "diff", "upload", "mips", "update", "sample"

// Level l of a plane holds, per texel and channel, (sum of its 4^l level-0 texels + 2^(2l-1)) >> 2l: the true mean,
// rounded once. Incremental refresh equals a rebuild, bit for bit, on every backend.
// One thread (the one that owns the GPU context, if any); upload, refresh_mips and sample allocate nothing.
class Pyramid {
 public:
  virtual ~Pyramid() = default;
  virtual const PyramidLayout& layout() const = 0;

  // Writes the damaged tiles of the frame into level 0, and the padding that repeats them. Returns the bytes written.
  virtual std::int64_t upload(const FrameView& frame, const Damage& damage) = 0;

  // Brings levels 1 and up to date where `damage` touched level 0. Call once after each upload, with the same damage.
  virtual void refresh_mips(const Damage& damage) = 0;

  // Trilinear samples of `plan` with the colour matrix applied, into `batch` (same N and S). Patches with coverage 0
  // become zeros in u8, and the value of zero R'G'B' otherwise.
  virtual void sample(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch) = 0;

  // The same for a batch that already holds the right samples wherever wanted[n] is 0: a backend that gains by it
  // leaves those patches as they are.
  virtual void sample_wanted(const PatchPlan& plan, const ColorSpec& color, std::span<const std::uint8_t> wanted,
                             PatchBatch& batch) {
    static_cast<void>(wanted);
    sample(plan, color, batch);
  }

  // A batch that submit() can fill without being waited for.
  virtual PatchBatch make_batch(std::size_t count, int patch_size, const SampleFormat& format) const {
    return PatchBatch(count, patch_size, format);
  }

  // sample() that may return before the samples are there; PatchBatch::wait() waits for them. The batch must live on
  // until then, and later calls of any kind may follow meanwhile.
  virtual void submit(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch) { sample(plan, color, batch); }

  // Device time of work queued earlier, once measuring was asked for (it costs a little). False: none has come in
  // since.
  virtual void measure_device() {}
  virtual bool poll_device_time(DeviceTime&) { return false; }

  // Copies a level out. plane: 0 luma or RGBA, 1 chroma. Throws std::out_of_range.
  virtual void read_level(int plane, int level, LevelImage& out) const = 0;
};

}  // namespace saccade
