#include "kernels/picture/memory.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace saccade {
namespace {

constexpr std::uint8_t kUnseen = 255;  // in place of a lod
constexpr int kMostLod = 24;
// Codes: how far two roundings of one mean lie apart at most. No multiple of 4^-k, so that nothing is a tie.
constexpr float kRounding = 2.2f;
constexpr double kMostChanged = 0.5;  // of what can be compared
constexpr double kBetween = 0.02;     // of a texel: centres are stored as f32

float luma(float r, float g, float b) { return (0.2126f * r + 0.7152f * g) + 0.0722f * b; }

}  // namespace

PictureMemory::PictureMemory(int width_px, int height_px, int patch_size) : patch_size_(patch_size), levels_(1) {
  const auto pixels = static_cast<std::size_t>(width_px) * static_cast<std::size_t>(height_px);
  levels_[0] = {width_px, height_px, std::vector<float>(3 * pixels), std::vector<std::uint8_t>(pixels, kUnseen)};
  doubted_.resize(pixels);
  covered_.resize(pixels);
  owner_.resize(pixels);
}

void PictureMemory::forget() {
  std::fill(covered_.begin(), covered_.end(), std::uint8_t{0});
  doubt_all();
}

void PictureMemory::doubt_all() {
  std::fill(levels_[0].coarsest.begin(), levels_[0].coarsest.end(), kUnseen);
  empty_ = true;
}

// False where samples lie between texels.
bool PictureMemory::place(std::span<const Patch> patches) {
  std::vector<std::size_t> order(patches.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return patches[a].lod > patches[b].lod; });
  placed_.clear();
  for (const std::size_t n : order) {
    const Patch& patch = patches[n];
    if (!(patch.coverage > 0)) continue;
    const auto lod = static_cast<int>(std::lround(patch.lod));
    if (lod < 0 || lod > kMostLod) return false;
    const double pitch = std::ldexp(1.0, lod);
    const double left = static_cast<double>(patch.x_px) / pitch - 0.5 * patch_size_;
    const double top = static_cast<double>(patch.y_px) / pitch - 0.5 * patch_size_;
    const auto off = [](double at) { return std::fabs(at - std::round(at)); };
    if (std::max({off(left), off(top), std::fabs(static_cast<double>(patch.lod) - lod)}) > kBetween) return false;
    Placed placed{static_cast<std::int32_t>(n), lod, static_cast<int>(std::lround(left)),
                  static_cast<int>(std::lround(top))};
    placed.begin_x = std::max(placed.left, 0);
    placed.begin_y = std::max(placed.top, 0);
    placed.end_x = std::min(placed.left + patch_size_, texels(levels_[0].width, lod));
    placed.end_y = std::min(placed.top + patch_size_, texels(levels_[0].height, lod));
    if (placed.begin_x < placed.end_x && placed.begin_y < placed.end_y) placed_.push_back(placed);
  }
  return true;
}

void PictureMemory::build_levels(int last) {
  levels_.resize(std::max(levels_.size(), static_cast<std::size_t>(last) + 1));
  for (int l = 1; l <= last; ++l) {
    Level& level = levels_[static_cast<std::size_t>(l)];
    level.width = texels(levels_[0].width, l) + 1;
    level.height = texels(levels_[0].height, l) + 1;
    const auto count = static_cast<std::size_t>(level.width) * static_cast<std::size_t>(level.height);
    level.means.resize(3 * count);
    level.coarsest.resize(count);
    build_level(levels_[static_cast<std::size_t>(l) - 1], level);
  }
}

// The last texels of `finer` are repeated: those of level 0 are the frame's edge, the others lie beyond it.
void PictureMemory::build_level(const Level& finer, Level& out) const {
  const auto size = [](const Level& level) {
    return static_cast<std::size_t>(level.width) * static_cast<std::size_t>(level.height);
  };
  for (int y = 0; y < out.height; ++y) {
    const std::ptrdiff_t upper = std::ptrdiff_t{std::min(2 * y, finer.height - 1)} * finer.width;
    const std::ptrdiff_t lower = std::ptrdiff_t{std::min(2 * y + 1, finer.height - 1)} * finer.width;
    const std::ptrdiff_t to = std::ptrdiff_t{y} * out.width;
    for (int x = 0; x < out.width; ++x) {
      const int left = std::min(2 * x, finer.width - 1);
      const int right = std::min(2 * x + 1, finer.width - 1);
      for (std::size_t c = 0; c < 3; ++c) {
        const float* const in = finer.means.data() + c * size(finer);
        out.means[c * size(out) + static_cast<std::size_t>(to + x)] =
            ((in[upper + left] + in[upper + right]) + (in[lower + left] + in[lower + right])) * 0.25f;
      }
      const std::uint8_t* const lod = finer.coarsest.data();
      out.coarsest[static_cast<std::size_t>(to + x)] =
          std::max({lod[upper + left], lod[upper + right], lod[lower + left], lod[lower + right]});
    }
  }
}

PictureMemory::Rgb PictureMemory::mean(const Level& level, int x, int y) const {
  const auto count = static_cast<std::size_t>(level.width) * static_cast<std::size_t>(level.height);
  const auto at = static_cast<std::size_t>(y) * static_cast<std::size_t>(level.width) + static_cast<std::size_t>(x);
  return {level.means[at], level.means[count + at], level.means[2 * count + at]};
}

PictureMemory::Rgb PictureMemory::sample(const Placed& patch, int x, int y, std::span<const float> samples) const {
  const auto size = static_cast<std::size_t>(patch_size_);
  const std::size_t at = static_cast<std::size_t>(patch.number) * 3 * size * size +
                         static_cast<std::size_t>(y - patch.top) * size + static_cast<std::size_t>(x - patch.left);
  return {samples[at], samples[at + size * size], samples[at + 2 * size * size]};
}

// How far colour, a channel less luma, goes apart in a texel and its neighbours. Chroma is read between texels, so that
// a sample's lies anywhere among them.
float PictureMemory::color_spread(const Placed& patch, int x, int y) const {
  const Level& level = levels_[static_cast<std::size_t>(patch.lod)];
  float most[3] = {-1e9f, -1e9f, -1e9f};
  float least[3] = {1e9f, 1e9f, 1e9f};
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      const Rgb near = mean(level, std::clamp(x + dx, 0, texels(levels_[0].width, patch.lod) - 1),
                            std::clamp(y + dy, 0, texels(levels_[0].height, patch.lod) - 1));
      const float grey = luma(near.r, near.g, near.b);
      const float color[3] = {near.r - grey, near.g - grey, near.b - grey};
      for (int c = 0; c < 3; ++c) {
        most[c] = std::max(most[c], color[c]);
        least[c] = std::min(least[c], color[c]);
      }
    }
  }
  return std::max({most[0] - least[0], most[1] - least[1], most[2] - least[2]});
}

// Is this sample no rounding of its texel's mean?
bool PictureMemory::differs(const Placed& patch, int x, int y, const Rgb& seen) const {
  const Rgb held = mean(levels_[static_cast<std::size_t>(patch.lod)], x, y);
  const Rgb delta{seen.r - held.r, seen.g - held.g, seen.b - held.b};
  const float grey = luma(delta.r, delta.g, delta.b);
  const float color = std::max({std::fabs(delta.r - grey), std::fabs(delta.g - grey), std::fabs(delta.b - grey)});
  if (std::fabs(grey) <= kRounding && color <= kRounding * 2) return false;
  const float spread = patch.lod > 0 ? color_spread(patch, x, y) : 0.0f;
  return std::fabs(grey) > kRounding + spread * 0.0625f || color > kRounding * 2 + spread * 0.5f;
}

void PictureMemory::doubt(const Placed& patch, int x, int y) {
  const auto first = [&](int texel) { return std::max((texel - 1) * (1 << patch.lod), 0); };
  const auto end = [&](int texel, int extent) { return std::min((texel + 2) * (1 << patch.lod), extent); };
  const int width = levels_[0].width;
  for (int py = first(y); py < end(y, levels_[0].height); ++py) {
    const auto row = doubted_.begin() + std::ptrdiff_t{py} * width;
    std::fill(row + first(x), row + end(x, width), std::uint8_t{1});
  }
}

void PictureMemory::compare_patch(const Placed& patch, std::uint8_t* known, std::span<const float> samples) {
  const Level& level = levels_[static_cast<std::size_t>(patch.lod)];
  const std::int64_t area = std::int64_t{1} << (2 * patch.lod);
  for (int y = patch.begin_y; y < patch.end_y; ++y) {
    for (int x = patch.begin_x; x < patch.end_x; ++x) {
      const auto at = static_cast<std::size_t>(y) * static_cast<std::size_t>(level.width) + static_cast<std::size_t>(x);
      if (level.coarsest[at] > patch.lod) continue;
      known[(y - patch.top) * patch_size_ + (x - patch.left)] = 1;
      compared_ += area;
      if (!differs(patch, x, y, sample(patch, x, y, samples))) continue;
      changed_ += area;
      doubt(patch, x, y);
    }
  }
}

void PictureMemory::compare(std::span<const float> samples) {
  known_.assign(placed_.size() * static_cast<std::size_t>(patch_size_ * patch_size_), 0);
  if (empty_ || placed_.empty()) return;
  build_levels(placed_.front().lod);
  std::fill(doubted_.begin(), doubted_.end(), std::uint8_t{0});
  compared_ = changed_ = 0;
  std::uint8_t* known = known_.data();
  for (const Placed& patch : placed_) {
    compare_patch(patch, known, samples);
    known += patch_size_ * patch_size_;
  }
  if (static_cast<double>(changed_) > kMostChanged * static_cast<double>(compared_)) {
    doubt_all();
    return;
  }
  for (std::size_t i = 0; i < doubted_.size(); ++i) {
    if (doubted_[i] != 0) levels_[0].coarsest[i] = kUnseen;
  }
}

// What was there stays where it is finer and this patch could be compared with all of its texel: it then agreed.
void PictureMemory::own(const Placed& patch, const std::uint8_t* known) {
  const Level& held = levels_[0];
  const int end_x = std::min(patch.end_x << patch.lod, held.width);
  const int end_y = std::min(patch.end_y << patch.lod, held.height);
  for (int py = patch.begin_y << patch.lod; py < end_y; ++py) {
    const std::uint8_t* const row = known + ((py >> patch.lod) - patch.top) * patch_size_;
    for (int px = patch.begin_x << patch.lod; px < end_x; ++px) {
      const auto at =
          static_cast<std::size_t>(py) * static_cast<std::size_t>(held.width) + static_cast<std::size_t>(px);
      const bool stays = row[(px >> patch.lod) - patch.left] != 0 && held.coarsest[at] < patch.lod;
      owner_[at] = stays ? kStays : patch.number;
    }
  }
}

void PictureMemory::hold(const Placed& patch, std::span<const float> samples) {
  Level& held = levels_[0];
  const std::size_t pixels = held.coarsest.size();
  const int end_x = std::min(patch.end_x << patch.lod, held.width);
  const int end_y = std::min(patch.end_y << patch.lod, held.height);
  for (int py = patch.begin_y << patch.lod; py < end_y; ++py) {
    for (int px = patch.begin_x << patch.lod; px < end_x; ++px) {
      const auto at =
          static_cast<std::size_t>(py) * static_cast<std::size_t>(held.width) + static_cast<std::size_t>(px);
      if (owner_[at] != patch.number) continue;
      const Rgb seen = sample(patch, px >> patch.lod, py >> patch.lod, samples);
      held.means[at] = seen.r;
      held.means[pixels + at] = seen.g;
      held.means[2 * pixels + at] = seen.b;
      held.coarsest[at] = static_cast<std::uint8_t>(patch.lod);
    }
  }
}

std::span<const std::int32_t> PictureMemory::add(std::span<const Patch> patches, std::span<const float> samples) {
  if (!place(patches)) return {};
  compare(samples);
  std::fill(owner_.begin(), owner_.end(), kUncovered);
  const std::uint8_t* known = known_.data();
  for (const Placed& patch : placed_) {
    own(patch, known);
    known += patch_size_ * patch_size_;
  }
  for (const Placed& patch : placed_) hold(patch, samples);
  for (std::size_t i = 0; i < owner_.size(); ++i) {
    if (owner_[i] != kUncovered) {
      covered_[i] = 1;
    } else if (covered_[i] != 0) {
      owner_[i] = kStays;
    }
  }
  empty_ = empty_ && placed_.empty();
  return owner_;
}

}  // namespace saccade
