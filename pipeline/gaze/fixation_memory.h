// Where the eye has been: inhibition of return (Klein 2000), on any grid of cells over the frame.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/pyramid_layout.h"
#include "pipeline/gaze/lattice/lattice.h"

namespace saccade {

// Cells of equal size along one axis of the frame: cell i is [origin + i * cell, origin + (i + 1) * cell).
struct CellAxis {
  double origin_px = 0;
  double cell_px = kTilePx;
};

// exp(-d^2 / 2 sigma^2) at the centre of each of out.size() cells.
void gaussian(const CellAxis& axis, double centre_px, double sigma_px, std::vector<float>& out);

struct AxisGaussians {
  std::vector<float> x, y;  // a Gaussian over the plane is their product
  void resize(std::size_t cols, std::size_t rows) {
    x.resize(cols);
    y.resize(rows);
  }
};

// The latest fixations. A place weakens its surround wholly at first, then ever less (1.5 s). Allocates nothing.
class FixationMemory {
 public:
  struct Place {
    double x_px = 0, y_px = 0;  // level-0 pixels
    std::int64_t elapsed_ns = 0;
  };
  FixationMemory(double fov_deg, const FrameGeometry& geometry);

  void remember(const Place& place);
  void forget() { count_ = 0; }
  std::size_t count() const { return count_ < kRemembered ? count_ : kRemembered; }
  const Place& past(std::size_t age) const { return past_[(count_ - 1 - age) % kRemembered]; }  // 0: the latest

  // Scales `score`, a row-major grid of around.x.size() x around.y.size() cells; `around` is overwritten.
  void inhibit(std::int64_t elapsed_ns, const CellAxis& x, const CellAxis& y, AxisGaussians& around,
               std::vector<float>& score) const;

 private:
  static constexpr std::size_t kRemembered = 12;
  double sigma_x_px_, sigma_y_px_;
  std::array<Place, kRemembered> past_;
  std::size_t count_ = 0;
};

}  // namespace saccade
