// Held pictures that a device keeps, and what becomes of their tiles.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/damage.h"
#include "kernels/held_picture.h"
#include "kernels/shared/held.h"
#include "kernels/tile_set.h"

namespace saccade {

// Gathers it on the host until the device is told. Allocates in the constructor only.
class HeldChanges {
 public:
  // All is grey.
  explicit HeldChanges(TileGrid grid) : grid_(grid), tiles_(static_cast<std::size_t>(grid.count())), changed_(grid) {
    forget();
  }

  void note(const Damage& damage) {
    any_ = any_ || damage.count() > 0;
    changed_.add(damage.words());
  }
  void hold(std::span<const Square> squares) {
    for (const Square& square : squares) {
      const int left = square.x << square.level, top = square.y << square.level, side = 1 << square.level;
      const TileRect tiles{left, top, std::min(side, grid_.cols - left), std::min(side, grid_.rows - top)};
      set(tiles, shared::kTileSent + square.level);
    }
  }
  void forget(const TileRect& tiles) { set(tiles, shared::kTileForgotten); }
  void forget() { set({0, 0, grid_.cols, grid_.rows}, shared::kTileForgotten); }

  bool any() const { return any_; }
  // A byte of each tile, as kernels/shared/held.h has them, and a bit for those that only changed.
  std::span<const std::uint8_t> tiles() const { return tiles_; }
  std::span<const std::uint64_t> changed() const { return changed_.words(); }
  void clear() {  // the device was told
    std::fill(tiles_.begin(), tiles_.end(), std::uint8_t{shared::kTileStays});
    changed_.clear();
    any_ = false;
  }

 private:
  void set(const TileRect& tiles, int change) {
    for (int ty = tiles.y; ty < tiles.y + tiles.height; ++ty) {
      std::fill_n(tiles_.begin() + (ty * grid_.cols + tiles.x), tiles.width, static_cast<std::uint8_t>(change));
    }
    any_ = true;
  }

  TileGrid grid_;
  std::vector<std::uint8_t> tiles_;
  TileSet changed_;
  bool any_ = false;
};

// One launch or dispatch a look and one a hold(). measure() alone waits.
class DeviceHeldPicture : public HeldPicture {
 public:
  int levels() const final { return levels_; }
  void note(const Damage& damage) final { changes_.note(damage); }
  void hold(std::span<const Square> squares) final {
    changes_.hold(squares);
    queue();
  }
  void forget() final { changes_.forget(); }
  void forget(const TileRect& tiles) final { changes_.forget(tiles); }

  virtual void queue() = 0;  // measure() without the wait

 protected:
  DeviceHeldPicture(const PyramidLayout& layout, const ErrorMeasure& measure)
      : measure_(measure), levels_(std::min(layout.levels, kSquareLevels)), changes_(layout.tiles) {}

  // Of a number for each tile, level after level.
  TileErrors errors_in(const std::uint32_t* all) const {
    const std::size_t count = changes_.tiles().size();
    TileErrors errors{.held = {all, count}, .means = {}};
    for (std::size_t l = 1; l < static_cast<std::size_t>(levels_); ++l) errors.means[l - 1] = {all + l * count, count};
    return errors;
  }

  const ErrorMeasure measure_;
  const int levels_;
  HeldChanges changes_;
};

}  // namespace saccade
