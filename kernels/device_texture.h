// What a texture on a device can do for a caller whose memory lies there too: emissions go straight into it, and the
// host waits for nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "kernels/color.h"
#include "kernels/patch_batch.h"
#include "kernels/patch_plan.h"

namespace saccade {

// CUDA's legacy default stream as a handle: what 0 stands for, where 0 is "none".
inline void* const kLegacyStream = reinterpret_cast<void*>(1);

// Until when a device reads something. Any thread; outlives the texture.
class DeviceMark {
 public:
  virtual ~DeviceMark() = default;
  virtual bool done() const = 0;
  virtual void wait() const = 0;
};

// What is known of a patch's place before the damage is: where the memory of places notes its emissions, and the image
// tiles that its samples read, [begin, end).
struct alignas(16) PlaceRecord {
  enum Known : std::int32_t {
    kEmitted = 0,    // before: the damage since then tells
    kFresh = 1,      // never, as far as is remembered: it counts as changed
    kUnchanged = 2,  // in this very emission
  };
  std::int32_t place = 0;
  Known known = kFresh;
  std::int16_t col_begin = 0, col_end = 0;
  std::int16_t row_begin = 0, row_end = 0;
  // Where its bytes are kept, to be compared with those of the next emission there; -1: nowhere.
  std::int32_t slot = -1;
  std::int32_t slot_known = 0;  // 1: they are there; 0: this emission's are the first
};

inline bool same_place(const PlaceRecord& a, const PlaceRecord& b) {
  return a.place == b.place && a.known == b.known && a.col_begin == b.col_begin && a.col_end == b.col_end &&
         a.row_begin == b.row_begin && a.row_end == b.row_end && a.slot == b.slot && a.slot_known == b.slot_known;
}

struct DeviceTotals {
  std::int64_t damaged_tiles = 0;
  std::int64_t bytes_written = 0;
  std::int64_t patches_changed = 0;
};

// The memory of places (pipeline/run/changed/patch_history.h) on the device, and samples by it. The thread of the
// texture. Throws DeviceError. Queues work in the texture's own stream; a caller's stream is a cudaStream_t.
class DeviceTexture {
 public:
  virtual int device() const = 0;
  virtual bool is_device_memory(const void* pointer) const = 0;  // of this device
  // After each update(), in place of Texture::damage(): the tiles that it found count as damaged from now on.
  virtual void note_damage() = 0;
  virtual void reserve_places(std::size_t places) = 0;  // that PlaceRecord::place tells apart
  virtual void reserve_slots(std::size_t bytes) = 0;    // of all of PlaceRecord::slot; more make all of them unknown
  // Patches, geometry (N x 4) and what changed into memory of this device, after what target.stream has queued so far;
  // what that queues from now on runs afterwards.
  virtual void submit_to(const PatchPlan& plan, const ColorSpec& color, std::span<const float> geometry,
                         std::span<const PlaceRecord> places, const PatchTarget& target) = 0;
  // Later work of `stream` runs after all that was queued here so far: what it lent is its own again.
  virtual void give_back(void* stream) = 0;
  // Until when the last update() reads its frame; null: it is the caller's again.
  virtual std::shared_ptr<const DeviceMark> reading() = 0;
  // Of all updates that were noted, and of all emissions. Waits.
  virtual DeviceTotals totals() = 0;

 protected:
  ~DeviceTexture() = default;
};

}  // namespace saccade
