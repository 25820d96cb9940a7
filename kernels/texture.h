// The seam between the pipeline and a backend: the persistent texture with its mip levels, wherever they live.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/damage.h"
#include "kernels/enum_names.h"
#include "kernels/frame_view.h"
#include "kernels/patch_batch.h"
#include "kernels/patch_plan.h"
#include "kernels/pyramid_layout.h"

namespace saccade {

class DeviceTexture;    // kernels/device_texture.h
class DrawableTexture;  // kernels/drawable_texture.h
class HeldPicture;      // kernels/held_picture.h
struct ErrorMeasure;    // also there

struct DiffConfig {
  // A sample differs when |frame - texture| > threshold, in 8-bit code values (16-bit samples: x 256).
  int threshold = 0;
  int min_samples = 0;  // a tile is damaged when more than this many of its samples (all planes, all channels) differ
  int noise_floor = 8;  // subtracted from each difference that counts as motion energy, in 8-bit code values
  bool operator==(const DiffConfig&) const = default;
};

// One level of one plane, tightly packed rows, native endian.
struct LevelImage {
  int width = 0;
  int height = 0;
  int channels = 0;
  int bytes_per_channel = 0;
  std::vector<std::uint8_t> data;
};

// Texels [x, x + width) x [y, y + height) of a level.
struct TexelRect {
  int x = 0, y = 0, width = 0, height = 0;
};

// By events around the work in the device's own queue, read frames later so that the host doesn't wait for them.
struct DeviceTime {
  enum class Work : std::uint8_t { kDiff, kUpload, kMips, kUpdate, kSample } work = Work::kUpdate;
  std::int64_t ns = 0;
};
inline constexpr std::size_t kDeviceWorks = 5;
inline constexpr EnumName<DeviceTime::Work> kDeviceWorkNames[] = {{DeviceTime::Work::kDiff, "diff"},
                                                                  {DeviceTime::Work::kUpload, "upload"},
                                                                  {DeviceTime::Work::kMips, "mips"},
                                                                  {DeviceTime::Work::kUpdate, "update"},
                                                                  {DeviceTime::Work::kSample, "sample"}};
constexpr std::span<const EnumName<DeviceTime::Work>> names_of(DeviceTime::Work) { return kDeviceWorkNames; }

// The levels, as they are read back.
// Level l of a plane holds, per texel and channel, (sum of its 4^l level-0 texels + 2^(2l-1)) >> 2l: the true mean,
// rounded once. An incremental refresh equals a rebuild, bit for bit, on every backend.
class Levels {
 public:
  virtual ~Levels() = default;
  virtual const PyramidLayout& layout() const = 0;
  // Copies a part of a level out, to rows that begin a positive `pitch_bytes` apart, a multiple of a texel; waits for
  // the device. plane: 0 luma or RGBA, 1 chroma. Throws std::out_of_range where the level has no such texels.
  virtual void read_texels(int plane, int level, const TexelRect& part, std::uint8_t* out,
                           std::ptrdiff_t pitch_bytes) const = 0;
  void read_level(int plane, int level, LevelImage& out) const;  // all of it

 protected:
  // Throws std::out_of_range.
  const PlaneLayout& check_level(int plane, int level) const;
  const PlaneLayout& check_texels(int plane, int level, const TexelRect& part) const;
};

// The steps of an update one by one, in this order, once a frame: the reference of a backend that fuses them.
class StagedTexture {
 public:
  // Compares the frame with level 0. The Damage is the texture's damage() until the next diff.
  virtual const Damage& diff(const FrameView& frame) = 0;
  // Writes the damaged tiles into level 0, and the padding that repeats them. Returns the bytes written.
  virtual std::int64_t upload(const FrameView& frame, const Damage& damage) = 0;
  // Brings levels 1 and up to date where `damage` touched level 0.
  virtual void refresh_mips(const Damage& damage) = 0;
  // All three.
  void run_steps(const FrameView& frame) {
    const Damage& damage = diff(frame);
    upload(frame, damage);
    refresh_mips(damage);
  }

 protected:
  ~StagedTexture() = default;
};

// Measures by the device's own clock.
class TimedTexture {
 public:
  virtual void measure_device() = 0;                    // from now on; it costs a little
  virtual bool poll_device_time(DeviceTime& time) = 0;  // of work queued earlier; false: none has come in since

 protected:
  ~TimedTexture() = default;
};

class ReusableTexture {
 public:
  // For another stream of the same size and format: as newly made with `config`, in the memory that it has. Waits for
  // the device; frames are not needed any more.
  virtual void start_over(const DiffConfig& config) = 0;

 protected:
  ~ReusableTexture() = default;
};

// What not every texture can; null: it can't. The texture keeps owning them.
struct TextureCapabilities {
  StagedTexture* staged = nullptr;            // update() runs these three steps
  const DrawableTexture* drawable = nullptr;  // its texels are GL textures
  DeviceTexture* device = nullptr;            // it can write a device's memory
  TimedTexture* timed = nullptr;
  ReusableTexture* reusable = nullptr;
  const PatchMemorySource* patch_memory = nullptr;  // null: submit() waits
};

// The texture is its own reference: a frame is compared with level 0, never with the previous frame. So with
// min_samples 0 texture and frame never differ by more than `threshold`. The first update() damages everything. One
// thread at a time; of gl, the one that made it. Per-frame calls allocate nothing. Throws std::invalid_argument for a
// frame of another size or format, and DeviceError when a GPU fails; then damage_everything() is due.
class Texture : public Levels {
 public:
  // Finds the tiles that differ from level 0 and brings them, and all levels, up to the frame. A device may
  // still work on it: the frame must live until damage() returns.
  virtual void update(const FrameView& frame) = 0;
  // Of the last update(). Stays on the device until it is asked for; then this waits. Valid until the next update().
  virtual const Damage& damage() = 0;
  virtual std::int64_t bytes_written() = 0;  // to level 0 by the last update(), padding included. May wait as damage()
  virtual void damage_everything() = 0;      // by the next update(), with energies of 0: a seek, a failed upload
  virtual void configure(const DiffConfig& config) = 0;

  // Trilinear samples of `plan` with the colour matrix applied, into `batch` (same N and S). Patches with coverage 0
  // become zeros in u8, and the value of zero R'G'B' otherwise. Waits until they are there.
  virtual void sample(const PatchPlan& plan, const ColorSpec& color, PatchBatch& batch) = 0;
  // sample() that may return before the samples are there; PatchBatch::wait() waits for them. The batch must live on
  // until then, and later calls of any kind may follow meanwhile. Where changed[n] is 0 the caller vouches that patch n
  // would come out as when its place was last submitted: a backend may copy it. Empty: nothing is known.
  virtual void submit(const PatchPlan& plan, const ColorSpec& color, std::span<const std::uint8_t> changed,
                      PatchBatch& batch) = 0;
  // A batch that submit() can fill without being waited for, where there is such memory.
  PatchBatch make_batch(std::size_t count, int patch_size, const SampleFormat& format);

  // Of what a receiver holds of this texture: nothing yet.
  virtual std::unique_ptr<HeldPicture> make_held_picture(const ErrorMeasure& measure) const = 0;

  virtual TextureCapabilities capabilities() = 0;
};

}  // namespace saccade
