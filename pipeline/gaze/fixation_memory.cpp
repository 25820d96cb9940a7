#include "pipeline/gaze/fixation_memory.h"

#include <algorithm>
#include <cmath>

namespace saccade {
namespace {

constexpr double kInhibitionTauNs = 1.5e9;
constexpr double kInhibitionGain = 1.2;  // the latest fixations inhibit wholly
constexpr double kInhibitionSigmaDeg = 2.5;
constexpr double kMinInhibitionSigmaPx = 1.5 * kTilePx;

}  // namespace

void gaussian(const CellAxis& axis, double centre_px, double sigma_px, std::vector<float>& out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double d = (axis.origin_px + (static_cast<double>(i) + 0.5) * axis.cell_px - centre_px) / sigma_px;
    out[i] = static_cast<float>(std::exp(-0.5 * d * d));
  }
}

FixationMemory::FixationMemory(double fov_deg, const FrameGeometry& geometry)
    : sigma_x_px_(std::max(kInhibitionSigmaDeg / (fov_deg / geometry.width_px), kMinInhibitionSigmaPx)),
      sigma_y_px_(
          std::max(kInhibitionSigmaDeg / (fov_deg / (geometry.width_px * geometry.sar)), kMinInhibitionSigmaPx)) {}

void FixationMemory::remember(const Place& place) {
  past_[count_ % kRemembered] = place;
  ++count_;
}

void FixationMemory::inhibit(std::int64_t elapsed_ns, const CellAxis& x, const CellAxis& y, AxisGaussians& around,
                             std::vector<float>& score) const {
  for (std::size_t age = 0; age < count(); ++age) {
    const Place& seen = past(age);
    const double age_tau = static_cast<double>(elapsed_ns - seen.elapsed_ns) / kInhibitionTauNs;
    const auto strength = static_cast<float>(std::min(kInhibitionGain * std::exp(-age_tau), 1.0));
    gaussian(x, seen.x_px, sigma_x_px_, around.x);
    gaussian(y, seen.y_px, sigma_y_px_, around.y);
    std::size_t cell = 0;
    for (const float gy : around.y) {
      for (const float gx : around.x) score[cell++] *= 1 - strength * gy * gx;
    }
  }
}

}  // namespace saccade
