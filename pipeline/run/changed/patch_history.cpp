#include "pipeline/run/changed/patch_history.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/shared/fovea.h"
#include "kernels/shared/sampling.h"

namespace saccade {
namespace {

constexpr std::size_t kEmissionsRemembered = 256;
constexpr std::size_t kMinPlaces = 1 << 10;
constexpr std::size_t kMaxPlaces = 1 << 16;  // 1 MiB, unless one emission needs more; twice: inside and outside

struct Interval {
  int begin = std::numeric_limits<int>::max();
  int end = std::numeric_limits<int>::min();
  void cover(int first, int last) {
    begin = std::min(begin, first);
    end = std::max(end, last + 1);
  }
};

// One axis of one plane.
struct Axis {
  int extent = 0;  // texels of level 0, padded
  int subsample_log2 = 0;
  int levels = 1;
  int tile_log2 = 4;
  int tiles = 0;  // of the image
  float site_shift = 0;
};

// Image tiles behind texels [first, last] of a level; padded tiles repeat the last one of the image.
void cover_texels(const Axis& axis, int level, int first, int last, Interval& tiles) {
  const int limit = (axis.extent >> level) - 1;
  const int begin = std::clamp(first, 0, limit) << level;
  const int end = ((std::clamp(last, 0, limit) + 1) << level) - 1;
  tiles.cover(std::min(begin >> axis.tile_log2, axis.tiles - 1), std::min(end >> axis.tile_log2, axis.tiles - 1));
}

// The two neighbours of the first and of the last sample bound what all samples read: positions rise with the index.
void cover_level(const Axis& axis, int level, float first_px, float last_px, Interval& tiles) {
  const float plane_scale = std::ldexp(1.0f, -axis.subsample_log2);
  const float level_scale = std::ldexp(1.0f, -level);
  const float first = shared::texel_coordinate(first_px, plane_scale, axis.site_shift, level_scale);
  const float last = shared::texel_coordinate(last_px, plane_scale, axis.site_shift, level_scale);
  cover_texels(axis, level, static_cast<int>(std::floor(first)), static_cast<int>(std::ceil(last)), tiles);
}

void cover_axis(const Axis& axis, float lod, float first_px, float last_px, Interval& tiles) {
  const float plane_lod = axis.subsample_log2 > 0 ? shared::chroma_lod(lod) : lod;
  const int fine = std::clamp(static_cast<int>(std::floor(plane_lod)), 0, axis.levels - 1);
  cover_level(axis, fine, first_px, last_px, tiles);
  if (plane_lod > static_cast<float>(fine) && fine + 1 < axis.levels)
    cover_level(axis, fine + 1, first_px, last_px, tiles);
}

// One that lies outside the frame, all of it, has the same bytes for ever.
bool reads(const Patch& patch) { return patch.coverage > 0; }

}  // namespace

std::uint64_t place_hash(const Patch& patch) {
  std::uint64_t h =
      (std::uint64_t{std::bit_cast<std::uint32_t>(patch.x_px)} << 32) | std::bit_cast<std::uint32_t>(patch.y_px);
  h = (h ^ (h >> 29)) * 0xBF58476D1CE4E5B9ULL;  // splitmix64's steps, with the lod mixed in between
  h ^= std::bit_cast<std::uint32_t>(patch.lod);
  h = (h ^ (h >> 32)) * 0x94D049BB133111EBULL;
  return h ^ (h >> 31);
}

TileFootprint patch_footprint(const Patch& patch, int patch_size, const ColorSpec& color, const PyramidLayout& layout) {
  const float pitch_px = std::exp2(patch.lod);
  const float left = shared::sample_position_px(patch.x_px, 0, patch_size, pitch_px);
  const float right = shared::sample_position_px(patch.x_px, patch_size - 1, patch_size, pitch_px);
  const float top = shared::sample_position_px(patch.y_px, 0, patch_size, pitch_px);
  const float bottom = shared::sample_position_px(patch.y_px, patch_size - 1, patch_size, pitch_px);
  Interval cols, rows;
  for (int p = 0; p < layout.plane_count; ++p) {
    const PlaneLayout& plane = layout.planes[static_cast<std::size_t>(p)];
    const bool chroma = plane.subsample_log2 > 0;
    Axis axis{.extent = plane.width,
              .subsample_log2 = plane.subsample_log2,
              .levels = plane.levels,
              .tile_log2 = std::countr_zero(static_cast<unsigned>(plane.tile_size())),
              .tiles = layout.tiles.cols,
              .site_shift = chroma ? color.site_shift_x : 0.0f};
    cover_axis(axis, patch.lod, left, right, cols);
    axis.extent = plane.height;
    axis.tiles = layout.tiles.rows;
    axis.site_shift = chroma ? color.site_shift_y : 0.0f;
    cover_axis(axis, patch.lod, top, bottom, rows);
  }
  return {.col_begin = cols.begin, .col_end = cols.end, .row_begin = rows.begin, .row_end = rows.end};
}

PatchHistory::PatchHistory(const PyramidLayout& layout, std::size_t patches_per_emission)
    : layout_(layout), damaged_at_(static_cast<std::size_t>(layout.tiles.count())) {
  const std::size_t wanted = std::clamp(kEmissionsRemembered * patches_per_emission, kMinPlaces, kMaxPlaces);
  const std::size_t places = std::bit_ceil(std::max(wanted, 2 * patches_per_emission));
  places_.resize(2 * places);
  bucket_mask_ = places / kWays - 1;
}

void PatchHistory::forget() {
  std::fill(places_.begin(), places_.end(), Place{});
  std::fill(damaged_at_.begin(), damaged_at_.end(), 0U);
  clock_ = 1;
}

void PatchHistory::note_frame() {
  if (clock_ == std::numeric_limits<std::uint32_t>::max()) forget();
  ++clock_;
}

void PatchHistory::note_damage(const Damage& damage) {
  note_frame();
  if (damage.all()) {
    std::fill(damaged_at_.begin(), damaged_at_.end(), clock_);
    return;
  }
  damage.for_each([this](int tile) { damaged_at_[static_cast<std::size_t>(tile)] = clock_; });
}

bool PatchHistory::touched_since(const Patch& patch, int patch_size, const ColorSpec& color,
                                 std::uint32_t emitted) const {
  const TileFootprint tiles = patch_footprint(patch, patch_size, color, layout_);
  const auto width = static_cast<std::size_t>(tiles.col_end - tiles.col_begin);
  for (int row = tiles.row_begin; row < tiles.row_end; ++row) {
    const std::uint32_t* at =
        damaged_at_.data() + static_cast<std::ptrdiff_t>(row) * layout_.tiles.cols + tiles.col_begin;
    std::uint32_t touched = 0;
    for (std::size_t i = 0; i < width; ++i) touched |= at[i] > emitted ? 1U : 0U;
    if (touched != 0) return true;
  }
  return false;
}

PatchHistory::Place& PatchHistory::find(const Patch& patch) {
  const std::size_t part = reads(patch) ? 0 : places_.size() / 2;
  Place* const bucket = places_.data() + part + (place_hash(patch) & bucket_mask_) * kWays;
  Place* oldest = bucket;
  for (Place* place = bucket; place < bucket + kWays; ++place) {
    if (place->emitted != 0 && place->x_px == patch.x_px && place->y_px == patch.y_px && place->lod == patch.lod) {
      return *place;
    }
    if (place->emitted < oldest->emitted) oldest = place;
  }
  *oldest = {.x_px = patch.x_px, .y_px = patch.y_px, .lod = patch.lod, .emitted = 0};
  return *oldest;
}

void PatchHistory::begin(const PatchPlan& plan, const ColorSpec& color) {
  if (color == color_ && plan.patch_size == patch_size_) return;
  forget();
  color_ = color;
  patch_size_ = plan.patch_size;
}

void PatchHistory::look_up(const PatchPlan& plan, const ColorSpec& color, std::vector<PlaceRecord>& out) {
  begin(plan, color);
  out.resize(plan.count());
  for (std::size_t n = 0; n < plan.count(); ++n) {
    const Patch& patch = plan.patches[n];
    Place& place = find(patch);
    const TileFootprint tiles = patch_footprint(patch, plan.patch_size, color, layout_);
    out[n] = {.place = static_cast<std::int32_t>(&place - places_.data()),
              .known = place.emitted == 0                         ? PlaceRecord::kFresh
                       : place.emitted == clock_ || !reads(patch) ? PlaceRecord::kUnchanged
                                                                  : PlaceRecord::kEmitted,
              .col_begin = static_cast<std::int16_t>(tiles.col_begin),
              .col_end = static_cast<std::int16_t>(tiles.col_end),
              .row_begin = static_cast<std::int16_t>(tiles.row_begin),
              .row_end = static_cast<std::int16_t>(tiles.row_end)};
    place.emitted = clock_;
  }
}

void PatchHistory::mark(const PatchPlan& plan, const ColorSpec& color, std::vector<std::uint8_t>& changed) {
  begin(plan, color);
  changed.resize(plan.count());
  for (std::size_t n = 0; n < plan.count(); ++n) {
    const Patch& patch = plan.patches[n];
    Place& place = find(patch);
    const bool fresh =
        place.emitted == 0 || (reads(patch) && touched_since(patch, plan.patch_size, color, place.emitted));
    changed[n] = fresh ? 1 : 0;
    place.emitted = clock_;
  }
}

}  // namespace saccade
