#include "app/reconstruct/against.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "app/reconstruct/emission_painter.h"
#include "app/reconstruct/truth.h"
#include "pipeline/error.h"
#include "pipeline/source/open.h"

namespace saccade {
namespace {

// Compares emissions with frames, one pair at a time, on the frame's own grid (no marks, no aspect ratio).
class Comparer {
 public:
  Comparer(const DumpReader& dump, bool memory)
      : dump_(dump),
        painter_(dump, {dump.facts().width_px, dump.facts().height_px}, memory),
        radius_(shared::eccentricity_of_lod(kNativeLod, dump.facts().fovea)) {}

  void compare(std::int64_t emission, const FrameView& frame, Comparison& out) {
    const DumpFacts& facts = dump_.facts();
    if (frame.width_px != facts.width_px || frame.height_px != facts.height_px) {
      throw InputError(fmt::format(
          "the video has frames of {}x{} pixels, the dump {}x{}; was it made from another video, or with --vf?",
          frame.width_px, frame.height_px, facts.width_px, facts.height_px));
    }
    frame_to_rgb(frame, truth_);
    measure(painter_.paint(emission), dump_.index(emission), out);
    ++out.matched;
  }

  double radius() const { return static_cast<double>(radius_); }

 private:
  struct Sum {
    double squares = 0;
    std::int64_t values = 0;
    void add(int squared) {
      squares += squared;
      values += 3;
    }
  };

  void measure(const RgbImage& painted, const DumpIndex& index, Comparison& out) const {
    Sum fovea, native, all;
    const float fix_x_px = index.fix_u * static_cast<float>(painted.width);
    const float fix_y_px = index.fix_v * static_cast<float>(painted.height);
    std::size_t pixel = 0;
    for (int y = 0; y < painted.height; ++y) {
      for (int x = 0; x < painted.width; ++x, ++pixel) {
        const int squared = squared_error(painted.pixel(x, y), truth_.pixel(x, y));
        all.add(squared);
        if (painter_.native()[pixel] != 0) native.add(squared);
        if (in_fovea(static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f, fix_x_px, fix_y_px))
          fovea.add(squared);
      }
    }
    out.fovea.add(fovea.squares, fovea.values);
    out.native.add(native.squares, native.values);
    out.frame.add(all.squares, all.values);
  }

  bool in_fovea(float x_px, float y_px, float fix_x_px, float fix_y_px) const {
    return shared::eccentricity(x_px, y_px, fix_x_px, fix_y_px, dump_.facts().fovea) <= radius_;
  }

  static int squared_error(const std::uint8_t* a, const std::uint8_t* b) {
    int sum = 0;
    for (int c = 0; c < 3; ++c) sum += (a[c] - b[c]) * (a[c] - b[c]);
    return sum;
  }

  const DumpReader& dump_;
  EmissionPainter painter_;
  float radius_;  // of the fovea, in the unit of e
  RgbImage truth_;
};

// One pass over the video; emissions are found by their time stamps, or by their frame numbers.
Comparison run_pass(const DumpReader& dump, const SourceConfig& config, bool memory, bool by_time,
                    const std::function<bool()>& stopped) {
  std::unordered_map<std::int64_t, std::int64_t> wanted;
  for (std::int64_t e = 0; e < dump.emissions(); ++e) {
    const DumpIndex index = dump.index(e);
    wanted.emplace(by_time ? index.pts_ns : index.frame, e);
  }
  Comparison result;
  result.by_time = by_time;
  Comparer comparer(dump, memory);
  result.fovea_radius = comparer.radius();
  const auto source = open_source(config);
  Frame frame;
  while (!wanted.empty() && !stopped()) {
    const ReadStatus status = source->next(frame);
    if (status == ReadStatus::kAgain) continue;
    if (status != ReadStatus::kOk) break;
    const auto found = wanted.find(by_time ? frame.view().pts_ns : frame.view().sequence);
    if (found != wanted.end()) {
      comparer.compare(found->second, frame.view(), result);
      wanted.erase(found);
    }
    source->recycle(std::move(frame));
  }
  return result;
}

}  // namespace

void RegionError::add(double squared_sum, std::int64_t values) {
  if (values == 0) return;
  sum_ += squared_sum;
  values_ += values;
  worst_ = std::max(worst_, squared_sum / static_cast<double>(values));
  ++emissions_;
}

double RegionError::psnr_db(double mse) {
  return mse > 0 ? 10.0 * std::log10(255.0 * 255.0 / mse) : std::numeric_limits<double>::infinity();
}

Comparison compare(const DumpReader& dump, const SourceConfig& config, bool memory,
                   const std::function<bool()>& stopped) {
  Comparison result = run_pass(dump, config, memory, true, stopped);
  if (result.matched == 0 && !stopped()) result = run_pass(dump, config, memory, false, stopped);
  if (result.matched == 0 && !stopped()) {
    throw InputError(fmt::format(
        "{}: no frame has the time or the number of an emission; was the dump made from another video?", config.uri));
  }
  return result;
}

}  // namespace saccade
