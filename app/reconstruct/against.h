// How close a dump's pictures come to the video it was made from.
#pragma once

#include <cstdint>
#include <functional>

#include "app/reconstruct/dump.h"
#include "pipeline/source/frame/frame_source.h"

namespace saccade {

// Squared errors of one region over many emissions. PSNR = 10 log10(255^2 / MSE), over R', G' and B' alike.
class RegionError {
 public:
  void add(double squared_sum, std::int64_t values);  // one emission; nothing is noted when values is 0
  std::int64_t emissions() const { return emissions_; }
  double mse() const { return values_ > 0 ? sum_ / static_cast<double>(values_) : 0; }
  double worst_mse() const { return worst_; }
  double mean_psnr_db() const { return psnr_db(mse()); }  // of the error pooled over all emissions
  double worst_psnr_db() const { return psnr_db(worst_); }
  static double psnr_db(double mse);  // infinite when mse is 0

 private:
  double sum_ = 0;
  std::int64_t values_ = 0;
  std::int64_t emissions_ = 0;
  double worst_ = 0;
};

struct Comparison {
  RegionError fovea;   // within the eccentricity where lod(e) < 0.5
  RegionError native;  // where what is on top has lod < 0.5
  RegionError frame;   // everywhere, unseen grey included
  std::int64_t matched = 0;
  bool by_time = true;      // emissions and frames were matched by their time stamps; else by frame number
  double fovea_radius = 0;  // in the unit of e
};

// Decodes the video that `config` names and compares each emission with its frame. Throws InputError: the video can't
// be decoded, has another size, or has no frame that matches. `stopped` ends early, with what was compared.
// memory: as EmissionPainter's.
Comparison compare(const DumpReader& dump, const SourceConfig& config, bool memory,
                   const std::function<bool()>& stopped);

}  // namespace saccade
