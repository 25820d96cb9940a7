// What the classes of the CUDA backend share: the arrays, the buffers between host and card, the parameters of kernels.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/cuda/buffer.h"
#include "gpu/cuda/error.h"
#include "gpu/cuda/stream.h"
#include "gpu/cuda/timer.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/texture_home.h"
#include "kernels/damage.h"
#include "kernels/patch_plan.h"
#include "kernels/pyramid.h"
#include "kernels/tile_differ.h"

namespace saccade::cuda {

// Page-locked bytes on their way to the card: rewritten only after the copy out of them is done.
struct InputSlot {
  PinnedBuffer bytes;
  CudaEvent copied;
};

struct CudaState {
  CudaState(const PyramidLayout& layout, std::unique_ptr<TextureHome> home);

  // Measures the work queued while it lives.
  class Span {
   public:
    Span(CudaState& state, DeviceTime::Work work) : state_(state), work_(work) {
      if (state_.timers) timer().begin(state_.stream.get());
    }
    ~Span() {
      try {
        if (state_.timers) timer().end(state_.stream.get());
      } catch (const CudaError&) {  // the next call reports it
      }
    }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

   private:
    CudaTimer& timer() { return (*state_.timers)[static_cast<std::size_t>(work_)]; }
    CudaState& state_;
    DeviceTime::Work work_;
  };
  void reserve_input();  // for any host frame of this size
  void open_texture();   // before work on it is queued: also looks up the handles of its levels

  void check_damage(const Damage& damage) const;
  SourceParams source_on_card(const FrameView& frame);  // host frames are copied to the card whole
  void copy_pinned(const FrameView& frame, const FrameView& copy);
  void copy_pageable(const FrameView& frame, const FrameView& copy, std::size_t total);
  void follow_default_stream();
  void run_diff(const FrameView& frame, const DiffConfig& config, bool everything, bool write);
  void fetch_tiles();           // starts bringing the result of run_diff back
  const Damage& read_damage();  // waits for it
  void run_apply(const FrameView& frame, const Damage& damage, bool refresh);
  void send_tiles(const Damage& damage);  // the table alone
  void send_packed(const FrameView& frame, const Damage& damage);
  InputSlot& next_slot();
  SourceParams packed_source(const FrameView& frame) const;
  void send_plan(const PatchPlan& plan);
  // Into `out`, memory that the card can write; null: `batch`, on the card.
  void run_sample(const ColorSpec& color, const SampleFormat& format, std::uint8_t* out);
  void fetch_batch();  // starts bringing `batch` back

  PyramidLayout layout;
  CudaStream stream;
  std::unique_ptr<TextureHome> home;
  TextureParams texture{};
  CudaBuffer tile_sums;

  std::size_t table_bytes = 0;   // one word per image tile
  std::size_t packed_bytes = 0;  // the table and all tiles
  std::size_t tile_bytes = 0;    // a packed tile: luma or RGBA, then chroma
  std::size_t chroma_offset = 0;
  CudaBuffer diff_tiles;  // written by the diff
  PinnedBuffer diff_tiles_host;
  CudaEvent diff_read;
  bool diff_everything = false;
  CudaEvent frame_made;
  Damage damage;

  // Host to card. Allocated on first use, or by reserve_input().
  std::array<InputSlot, 2> slots;
  int slot = 0;
  CudaBuffer packed;  // the table, then packed tiles
  CudaBuffer frame_copy;
  bool staged = false;
  bool levels_done = false;

  std::vector<Patch> plan_patches;  // what the card has
  int plan_size = 0;
  PinnedBuffer plan_host;
  CudaBuffer plan_card;
  CudaEvent plan_copied;
  CudaBuffer batch;
  PinnedBuffer batch_host;
  std::size_t batch_bytes = 0;
  CudaEvent batch_read;
  SampleFormat batch_format;
  bool hardware = false;
  std::unique_ptr<std::array<CudaTimer, 5>> timers;  // by DeviceTime::Work; null: nothing is measured
  bool early_launch = false;
};

}  // namespace saccade::cuda
