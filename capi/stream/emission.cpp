#include "capi/stream/emission.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <utility>

#include "capi/error.h"
#include "capi/structs.h"

namespace saccade::capi {
namespace {

// Memory that a device still writes can neither be used again nor freed.
void wait_for_device(const saccade_emission& emission) {
  try {
    emission.content.batch.wait();
  } catch (const std::exception&) {  // a device that failed writes no more
  }
}

// One of an emission's arrays, and the caller's memory for it.
struct Part {
  const char* what;
  const void* from;
  std::size_t size_bytes;
  void* to;  // null: not wanted
  std::size_t room_bytes;
};

}  // namespace

EmissionPool::Handle EmissionPool::take() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return nullptr;
  Handle emission = std::move(free_.back());
  free_.pop_back();
  return emission;
}

void EmissionPool::give(Handle emission) {
  wait_for_device(*emission);
  emission->pool.reset();
  emission->mark.reset();
  const std::lock_guard lock(mutex_);
  if (!closed_ && free_.size() < kKept) free_.push_back(std::move(emission));
}

void EmissionPool::close() {
  std::vector<Handle> leaving;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  leaving.swap(free_);
}

void note_geometry(saccade_emission& emission, int width_px, int height_px) {
  emission.geometry.resize(emission.content.plan.count() * 4);
  write_geometry(emission.content.plan, width_px, height_px, emission.geometry);
}

saccade_emission_view view_of(const Emission& emission) {
  saccade_emission_view view{};
  view.frame = emission.frame;
  view.pts_ns = emission.pts_ns;
  view.captured_unix_ns = emission.captured_unix_ns;
  view.age_ns = emission.age_ns;
  view.fixation_u = emission.fix_u;
  view.fixation_v = emission.fix_v;
  view.pointer_u = emission.pointer_u;
  view.pointer_v = emission.pointer_v;
  view.in_flight = emission.in_flight ? 1 : 0;
  view.damaged_tiles = emission.damaged_tiles;
  view.gaps = emission.gaps;
  view.patch_count = static_cast<std::int32_t>(emission.plan.count());
  view.patch_size = emission.plan.patch_size;
  return view;
}

}  // namespace saccade::capi

using namespace saccade::capi;

saccade_status saccade_emission_get(const saccade_emission* emission, saccade_emission_view* out) {
  return guarded([&] {
    require(emission != nullptr, "saccade_emission_get", "emission is NULL");
    emission->mark->check("saccade_emission_get");
    const saccade::Emission& content = emission->content;
    content.batch.wait();
    saccade_emission_view view = view_of(content);
    view.patches = content.batch.bytes().data();
    view.patches_bytes = content.batch.bytes().size();
    view.geometry = emission->geometry.data();
    view.changed = content.changed.data();
    view.dtype = static_cast<std::int32_t>(content.batch.format().type);
    fill("saccade_emission_get", out, view, {kEarlierViewBytes});
    return SACCADE_OK;
  });
}

saccade_status saccade_emission_copy(const saccade_emission* emission, void* patches, std::size_t patches_bytes,
                                     float* geometry, std::size_t geometry_bytes, std::uint8_t* changed,
                                     std::size_t changed_bytes) {
  return guarded([&] {
    require(emission != nullptr, "saccade_emission_copy", "emission is NULL");
    emission->mark->check("saccade_emission_copy");
    const saccade::Emission& content = emission->content;
    content.batch.wait();
    const auto bytes = content.batch.bytes();
    const std::array parts{
        Part{"patches", bytes.data(), bytes.size(), patches, patches_bytes},
        Part{"geometry", emission->geometry.data(), emission->geometry.size() * sizeof(float), geometry,
             geometry_bytes},
        Part{"changed", content.changed.data(), content.changed.size(), changed, changed_bytes},
    };
    for (const Part& part : parts) {
      if (part.to == nullptr || part.room_bytes == part.size_bytes) continue;
      refuse("saccade_emission_copy",
             fmt::format("{} has {} bytes, the memory for it {}", part.what, part.size_bytes, part.room_bytes));
    }
    for (const Part& part : parts) {
      if (part.to != nullptr) std::memcpy(part.to, part.from, part.size_bytes);
    }
    return SACCADE_OK;
  });
}

void saccade_emission_release(saccade_emission* emission) {
  if (emission == nullptr || !emission->mark->usable()) return;  // see saccade_stream_free()
  static_cast<void>(guarded([&] {
    const std::shared_ptr<EmissionPool> pool = emission->pool;
    pool->give(EmissionPool::Handle(emission));
    return SACCADE_OK;
  }));
}
