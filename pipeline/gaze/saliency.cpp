#include "pipeline/gaze/saliency.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace saccade {
namespace {

constexpr double kMotionTauNs = 0.25e9;
constexpr double kRebaseTau = 20;                        // exp(20) leaves a float ample room
constexpr float kNegligibleEnergy = 1e-3f;               // keeps decayed tiles out of the slow denormal range
constexpr int kFewTiles = 12;                            // of 64: sooner one by one than all
constexpr float kHalfEnergy = 8.0f * kTilePx * kTilePx;  // 8 code values above the noise floor all over a tile

constexpr int kTileLevel = 4;  // a luma texel is a tile
constexpr std::array<int, 2> kSurroundRadii{2, 6};
constexpr float kColorWeight = 2.0f;     // differences of colour are smaller numbers than those of luma
constexpr float kFaintContrast = 0.05f;  // below this the map is not stretched to full range

}  // namespace

double MotionTrace::age_tau(std::int64_t elapsed_ns) const {
  return static_cast<double>(elapsed_ns - reference_ns_) / kMotionTauNs;
}

void MotionTrace::reset() {
  std::fill(energy_.begin(), energy_.end(), 0.0f);
  reference_ns_ = 0;
}

void MotionTrace::note(std::int64_t elapsed_ns, const Damage& damage) {
  if (damage.grid() != grid_ || damage.count() == 0) return;
  if (age_tau(elapsed_ns) > kRebaseTau) {
    const auto decay = static_cast<float>(std::exp(-age_tau(elapsed_ns)));
    for (float& energy : energy_) {
      energy *= decay;
      if (energy < kNegligibleEnergy) energy = 0;
    }
    reference_ns_ = elapsed_ns;
  }
  const auto weight = static_cast<float>(std::exp(age_tau(elapsed_ns)));
  const auto measured = damage.energy();
  const auto words = damage.words();
  float* const energy = energy_.data();
  for (std::size_t word = 0; word < words.size(); ++word) {
    const int count = std::popcount(words[word]);
    if (count == 0) continue;
    if (count < kFewTiles || !ignored_.empty()) {
      for (std::uint64_t bits = words[word]; bits != 0; bits &= bits - 1) {
        const std::size_t i = 64 * word + static_cast<std::size_t>(std::countr_zero(bits));
        if (ignored_.empty() || ignored_[i] == 0) energy[i] += static_cast<float>(measured[i]) * weight;
      }
      continue;
    }
    // Where a tile is not damaged there is nothing to be added. Energies are far below 2^31.
    const std::size_t end = std::min(64 * word + 64, energy_.size());
    for (std::size_t i = 64 * word; i < end; ++i) {
      energy[i] += static_cast<float>(static_cast<std::int32_t>(measured[i])) * weight;
    }
  }
}

void MotionTrace::conspicuity(std::int64_t elapsed_ns, std::vector<float>& out) const {
  const auto decay = static_cast<float>(std::exp(-age_tau(elapsed_ns)));
  double sum = 0;
  for (std::size_t i = 0; i < energy_.size(); ++i) {
    const float energy = energy_[i] * decay;
    out[i] = energy / (energy + kHalfEnergy);
    sum += static_cast<double>(out[i]);
  }
  const auto mean = static_cast<float>(sum / static_cast<double>(energy_.size()));
  for (float& value : out) value = std::max(value - mean, 0.0f);
}

CenterSurround::CenterSurround(TileGrid grid, const FrameGeometry& geometry, std::span<const std::uint8_t> ignored)
    : grid_(grid), ignored_(ignored) {
  const auto count = static_cast<std::size_t>(grid.count());
  for (auto& channel : channels_) channel.resize(count);
  sums_.resize(static_cast<std::size_t>(grid.cols + 1) * static_cast<std::size_t>(grid.rows + 1));
  if (!ignored_.empty()) {
    for (std::size_t i = 0; i < count; ++i) channels_[0][i] = ignored_[i] != 0 ? 0.0f : 1.0f;
    sum_up(channels_[0]);
    counts_.assign(sums_.begin(), sums_.end());
  }
  // Room for the largest level that is read (4 bytes a texel serve every format), so that none is made per frame.
  const int multiple = std::max(kExtentPx, 1 << (geometry.levels - 1));
  const int level = std::min(kTileLevel, geometry.levels - 1);
  const auto padded = [&](int extent) {
    return static_cast<std::size_t>((extent + multiple - 1) / multiple * multiple >> level);
  };
  image_.data.reserve(padded(geometry.width_px) * padded(geometry.height_px) * 4);
}

// Averages channel `channel` of `image_`, which holds level `level` of a plane, over each tile.
void CenterSurround::tile_means(const PlaneLayout& plane, int level, int channel, float code_max,
                                std::vector<float>& out) const {
  const int side = plane.tile_size() >> level;  // texels along a tile
  const float scale = 1.0f / (code_max * static_cast<float>(side * side));
  const auto texel_bytes = static_cast<std::size_t>(plane.texel_bytes());
  const auto bytes_per_channel = static_cast<std::size_t>(plane.bytes_per_channel);
  const auto code = [&](int x, int y) -> std::uint32_t {
    const std::size_t texel =
        static_cast<std::size_t>(y) * static_cast<std::size_t>(image_.width) + static_cast<std::size_t>(x);
    const std::uint8_t* at =
        image_.data.data() + texel * texel_bytes + static_cast<std::size_t>(channel) * bytes_per_channel;
    if (bytes_per_channel == 1) return *at;
    std::uint16_t wide = 0;
    std::copy_n(at, 2, reinterpret_cast<std::uint8_t*>(&wide));
    return wide;
  };
  std::size_t tile = 0;
  for (int ty = 0; ty < grid_.rows; ++ty) {
    for (int tx = 0; tx < grid_.cols; ++tx, ++tile) {
      std::uint32_t sum = 0;
      for (int y = ty * side; y < (ty + 1) * side; ++y) {
        for (int x = tx * side; x < (tx + 1) * side; ++x) sum += code(x, y);
      }
      out[tile] = static_cast<float>(sum) * scale;
    }
  }
}

void CenterSurround::read_tiles(const Levels& levels) {
  const PyramidLayout& layout = levels.layout();
  const PlaneLayout& base = layout.planes[0];
  const float code_max = base.bytes_per_channel == 2 ? 65535.0f : 255.0f;
  const int level = std::min(kTileLevel, base.levels - 1);
  levels.read_level(0, level, image_);
  if (layout.format == TextureFormat::kRgba8) {
    for (int c = 0; c < 3; ++c) tile_means(base, level, c, code_max, channels_[static_cast<std::size_t>(c)]);
    for (std::size_t i = 0; i < channels_[0].size(); ++i) {
      const float r = channels_[0][i], g = channels_[1][i], b = channels_[2][i];
      channels_[0][i] = 0.25f * (r + 2 * g + b);
      channels_[1][i] = 0.5f * (b - 0.5f * (r + g));
      channels_[2][i] = 0.5f * (r - g);
    }
    return;
  }
  tile_means(base, level, 0, code_max, channels_[0]);
  const PlaneLayout& chroma = layout.planes[1];
  const int chroma_level = std::min(kTileLevel - 1, chroma.levels - 1);
  levels.read_level(1, chroma_level, image_);
  tile_means(chroma, chroma_level, 0, code_max, channels_[1]);
  tile_means(chroma, chroma_level, 1, code_max, channels_[2]);
}

void CenterSurround::sum_up(const std::vector<float>& channel) {
  const auto stride = static_cast<std::size_t>(grid_.cols) + 1;
  const auto cols = static_cast<std::size_t>(grid_.cols);
  for (std::size_t y = 0; y < static_cast<std::size_t>(grid_.rows); ++y) {
    double row_sum = 0;
    for (std::size_t x = 0; x < cols; ++x) {
      const bool counts = ignored_.empty() || ignored_[y * cols + x] == 0;
      row_sum += counts ? static_cast<double>(channel[y * cols + x]) : 0.0;
      sums_[(y + 1) * stride + x + 1] = sums_[y * stride + x + 1] + row_sum;
    }
  }
}

void CenterSurround::add_contrast(const std::vector<float>& channel, float weight, std::vector<float>& out) {
  const auto stride = static_cast<std::size_t>(grid_.cols) + 1;
  sum_up(channel);
  for (const int radius : kSurroundRadii) {
    for (int y = 0; y < grid_.rows; ++y) {
      const auto top = static_cast<std::size_t>(std::max(y - radius, 0)) * stride;
      const auto bottom = static_cast<std::size_t>(std::min(y + radius + 1, grid_.rows)) * stride;
      const int height = std::min(y + radius + 1, grid_.rows) - std::max(y - radius, 0);
      const auto add = [&](int x) {
        const std::size_t tile = static_cast<std::size_t>(y) * (stride - 1) + static_cast<std::size_t>(x);
        const auto left = static_cast<std::size_t>(std::max(x - radius, 0));
        const auto right = static_cast<std::size_t>(std::min(x + radius + 1, grid_.cols));
        if (!ignored_.empty() && ignored_[tile] != 0) return;
        const auto area = [&](const auto& table) {
          return table[bottom + right] - table[bottom + left] - table[top + right] + table[top + left];
        };
        const double count = counts_.empty() ? static_cast<double>(right - left) * height : area(counts_);
        const auto mean = static_cast<float>(area(sums_) / count);
        out[tile] += weight * std::abs(channel[tile] - mean);
      };
      // Away from the sides a tile's surround is as wide as that of its neighbour: vectors.
      const int first = std::min(radius, grid_.cols), past = std::max(grid_.cols - radius, first);
      for (int x = 0; x < first; ++x) add(x);
      if (ignored_.empty()) {
        const double* const upper = sums_.data() + top;
        const double* const lower = sums_.data() + bottom;
        const auto count = static_cast<double>((2 * radius + 1) * height);
        const float* const values = channel.data() + static_cast<std::size_t>(y) * (stride - 1);
        float* const rated = out.data() + static_cast<std::size_t>(y) * (stride - 1);
        for (int x = first; x < past; ++x) {
          const int left = x - radius, right = x + radius + 1;
          const auto mean = static_cast<float>((lower[right] - lower[left] - upper[right] + upper[left]) / count);
          rated[x] += weight * std::abs(values[x] - mean);
        }
      } else {
        for (int x = first; x < past; ++x) add(x);
      }
      for (int x = past; x < grid_.cols; ++x) add(x);
    }
  }
}

void CenterSurround::conspicuity(const Levels& levels, std::vector<float>& out) {
  std::fill(out.begin(), out.end(), 0.0f);
  if (levels.layout().tiles != grid_) return;
  read_tiles(levels);
  add_contrast(channels_[0], 1.0f, out);
  add_contrast(channels_[1], kColorWeight, out);
  add_contrast(channels_[2], kColorWeight, out);
  const float scale = 1.0f / (*std::max_element(out.begin(), out.end()) + kFaintContrast);
  for (float& value : out) value *= scale;
}

}  // namespace saccade
