// What a CudaTexture holds: its arrays, the buffers between host and device, the parameters of kernels. Its calls want
// the texture's device to be the current one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gpu/cuda/buffer.h"
#include "gpu/cuda/device.h"
#include "gpu/cuda/error.h"
#include "gpu/cuda/stream.h"
#include "gpu/cuda/timer.h"
#include "kernels/cuda/caller_work.h"
#include "kernels/cuda/kept_batches.h"
#include "kernels/cuda/launch/launch.h"
#include "kernels/cuda/storage.h"
#include "kernels/cuda/texture.h"
#include "kernels/damage.h"
#include "kernels/patch_plan.h"
#include "kernels/texture.h"

namespace saccade::cuda {

// Page-locked bytes on their way to the device: rewritten only after the copy out of them is done.
struct InputSlot {
  explicit InputSlot(int device) : copied(device) {}
  PinnedBuffer bytes;
  CudaEvent copied;
};

// What the device has of an emission, in one block: a PatchRecord, a PlaceRecord and four floats of geometry a patch.
inline constexpr std::size_t kPlanBytes = sizeof(PatchRecord) + sizeof(PlaceRecord) + 4 * sizeof(float);
constexpr std::size_t places_offset(std::size_t count) { return count * sizeof(PatchRecord); }
constexpr std::size_t geometry_offset(std::size_t count) { return count * (sizeof(PatchRecord) + sizeof(PlaceRecord)); }
static_assert(sizeof(PatchRecord) == 16 && sizeof(PlaceRecord) == 32);

struct CudaState {
  CudaState(const PyramidLayout& layout, const CudaTextureConfig& config, std::unique_ptr<TextureStorage> storage);
  CudaDeviceGuard on_device() const { return CudaDeviceGuard(device); }

  // Measures the work queued while it lives.
  class Span {
   public:
    Span(CudaState& state, DeviceTime::Work work) : state_(state), work_(work) {
      if (!state_.timers.empty()) timer().begin(state_.stream.get());
    }
    ~Span() {
      try {
        if (!state_.timers.empty()) timer().end(state_.stream.get());
      } catch (const CudaError&) {  // the next call reports it
      }
    }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

   private:
    CudaTimer& timer() { return state_.timers[static_cast<std::size_t>(work_)]; }
    CudaState& state_;
    DeviceTime::Work work_;
  };
  void start_over(const DiffConfig& config);  // nothing is queued
  void reserve_input();                       // for any host frame of this size
  void open_texture();                        // before work on it is queued: also looks up the handles of its levels

  void check_frame(const FrameView& frame) const;         // that it fits, and that this device can read it
  SourceParams source_on_device(const FrameView& frame);  // host frames are copied to the device whole
  void copy_pinned(const FrameView& frame, const FrameView& copy);
  void copy_pageable(const FrameView& frame, const FrameView& copy, std::size_t total);
  void follow(const FrameView& frame);  // its samples are there before later work
  void run_diff(const FrameView& frame, bool write);
  const Damage& read_damage();  // brings the result of run_diff back, once, and waits for it
  void run_apply(const FrameView& frame, const Damage& damage, bool refresh);
  void send_tiles(const Damage& damage);  // the table alone
  void send_packed(const FrameView& frame, const Damage& damage);
  InputSlot& next_slot();
  SourceParams packed_source(const FrameView& frame) const;
  void reserve_plan(std::size_t count);
  static void write_records(const PatchPlan& plan, PatchRecord* out);
  void send_plan(const PatchPlan& plan);
  void send_emission(const PatchPlan& plan, std::span<const float> geometry, std::span<const PlaceRecord> places);
  CallerWork& caller_work();
  // Into `out`, memory that the device can write; null: `batch`, on the device.
  void run_sample(const ColorSpec& color, const SampleFormat& format, std::uint8_t* out);
  void fetch_batch();  // starts bringing `batch` back

  PyramidLayout layout;
  int device;
  DiffConfig diff;
  bool staged;
  CudaStream stream;
  std::unique_ptr<TextureStorage> storage;
  TextureParams texture{};
  CudaBuffer tile_sums;

  std::size_t table_bytes = 0;   // one word per image tile
  std::size_t packed_bytes = 0;  // the table and all tiles
  std::size_t tile_bytes = 0;    // a packed tile: luma or RGBA, then chroma
  std::size_t chroma_offset = 0;
  CudaBuffer diff_tiles;  // the damage, as the last diff wrote it
  PinnedBuffer diff_tiles_host;
  CudaEvent diff_read;
  bool everything_next = true;  // the next diff damages everything
  bool diff_everything = false;
  bool reads_frame = false;  // the last diff reads the frame's own memory, not a copy that was made before it returned
  bool damage_fetched = true;  // `damage` is that of the last diff
  CudaEvent frame_made;
  Damage damage;

  // Host to device. Allocated on first use, or by reserve_input().
  std::array<InputSlot, 2> slots;
  int slot = 0;
  CudaBuffer packed;  // the table, then packed tiles
  CudaBuffer frame_copy;
  bool levels_done = false;

  std::vector<Patch> plan_patches;  // what the device has
  int plan_size = 0;
  PinnedBuffer plan_host;
  CudaBuffer plan_device;
  CudaEvent plan_copied;
  CudaBuffer batch;
  PinnedBuffer batch_host;
  std::size_t batch_bytes = 0;
  CudaEvent batch_read;
  SampleFormat batch_format;
  bool hardware = false;
  std::vector<CudaTimer> timers;  // by DeviceTime::Work; empty: nothing is measured
  bool early_launch = false;
  std::unique_ptr<CallerWork> caller;  // null: nothing went into a caller's memory
  std::shared_ptr<KeptBatches> batches;
};

}  // namespace saccade::cuda
