// How damaged tiles travel to a texture on a GPU, and in which rectangles: many small copies, few larger ones, or all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/damage.h"
#include "kernels/enum_names.h"
#include "kernels/pyramid_layout.h"

namespace saccade {

enum class UploadPath : std::uint8_t {
  kAuto,  // gl: kDirect on a software renderer, else kPbo. cuda: kDirect
  kPbo,   // rows packed into a ring of pixel buffers, and from there by glTexSubImage2D
  // gl: from the host copy in the call itself. cuda: the kernel that makes the levels reads them itself; no GL
  kDirect,
};
inline constexpr EnumName<UploadPath> kUploadPaths[] = {
    {UploadPath::kAuto, "auto"}, {UploadPath::kPbo, "pbo"}, {UploadPath::kDirect, "direct"}};
constexpr std::span<const EnumName<UploadPath>> names_of(UploadPath) { return kUploadPaths; }

// What a transfer costs: one call per rectangle and plane, and its bytes. Measured at start.
struct UploadCost {
  double call_us = 1.0;
  double byte_us = 1e-4;
};

// In tiles of the padded grid. Together the rectangles cover every damaged tile and its padding copies; they may also
// cover undamaged tiles, so they must be filled from the texture's own truth, and they may overlap.
struct UploadPlan {
  std::span<const TileRect> rects;
  std::int64_t bytes = 0;       // of all planes
  int calls = 0;                // rectangles x planes
  bool full = false;            // one rectangle: everything
  double cost_us = 0;           // by the model
  std::int64_t full_bytes = 0;  // what sending everything would take
  double full_cost_us = 0;
};

// Joins neighbouring rectangles while the bytes between them cost less than the call they save; keeps the cheapest of
// the exact cover, the joined cover and the whole texture. Plans belong to the planner. No allocation after the first
// frame whose damage is as fragmented.
class UploadPlanner {
 public:
  UploadPlanner(const PyramidLayout& layout, UploadCost cost);

  const UploadCost& cost() const { return cost_; }
  const UploadPlan& plan(const Damage& damage);
  // The exact cover: nothing but damaged tiles and their padding copies. For a frame that fills rectangles by itself:
  // with a threshold, it is not the texture where no tile is damaged.
  const UploadPlan& plan_exact(const Damage& damage);

 private:
  double tile_cost_us() const { return static_cast<double>(tile_bytes_) * cost_.byte_us; }
  double rect_cost_us() const { return planes_ * cost_.call_us; }
  void extend_to_padding(TileRect& rect) const;
  void join();
  UploadPlan priced(std::span<const TileRect> rects) const;

  TileGrid tiles_;
  TileGrid padded_;
  int planes_ = 1;
  std::int64_t tile_bytes_ = 0;  // of all planes
  UploadCost cost_;
  std::vector<TileRect> exact_;
  std::vector<TileRect> joined_;
  TileRect everything_;
  UploadPlan plan_;
};

}  // namespace saccade
