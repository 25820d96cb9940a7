// What stands behind a saccade_emission, and the pool that it goes back to.
#pragma once

#include <saccade/saccade.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "capi/call.h"
#include "pipeline/run/session.h"

namespace saccade::capi {
class EmissionPool;
}

struct saccade_emission {
  saccade::Emission content;
  std::vector<float> geometry;  // N x 4: u, v, lod, coverage
  std::shared_ptr<saccade::capi::EmissionPool> pool;
  std::optional<saccade::capi::HandleMark> mark;  // while a caller owns it
};

namespace saccade::capi {

// Emissions that circulate between a stream and its caller. Any thread. Each emission holds its pool, so the pool
// outlives the stream while the caller owns one of them.
class EmissionPool {
 public:
  using Handle = std::unique_ptr<saccade_emission>;

  Handle take();  // null: none is free, and the stream makes one
  void give(Handle emission);
  void close();  // from now on what is given back is freed at once

 private:
  static constexpr std::size_t kKept = 32;
  std::mutex mutex_;
  std::vector<Handle> free_;
  bool closed_ = false;
};

// Of a view that lacks the pointer.
inline constexpr std::size_t kEarlierViewBytes = offsetof(saccade_emission_view, pointer_u);

// All but patches, geometry and changed.
saccade_emission_view view_of(const Emission& emission);

// Fills `geometry` from the plan, for a frame of this size.
void note_geometry(saccade_emission& emission, int width_px, int height_px);

}  // namespace saccade::capi
