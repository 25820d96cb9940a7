// How far the work is: counts that add up, as a line, as JSON and for Prometheus.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "app/json/json_file.h"
#include "app/options/options.h"

namespace saccade {

struct Counts {
  std::int64_t in = 0;  // = all of the next five
  std::int64_t done = 0;
  std::int64_t damaged = 0;
  std::int64_t quarantined = 0;
  std::int64_t duplicate = 0;
  std::int64_t pending = 0;
  std::map<std::string, std::int64_t> classes;  // of the quarantined
  std::int64_t frames = 0;                      // of what is done
  double media_s = 0;                           // likewise
  double planned_s = 0;                         // of all
  double ended_s = 0;                           // of what is not pending
};

Json counts_json(const Counts& counts);
std::string counts_line(const Counts& counts);

// Reports on stderr each ten seconds, as --progress asks, and into the file of `metrics`. One thread.
class Tally {
 public:
  Tally(const Options& options, const Counts& begin);
  void report_if_due(const Counts& counts);
  void finish(const Counts& counts);  // the last one

 private:
  Json json() const;
  void report(bool last);
  void write_metrics() const;

  const Options& options_;
  const std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point next_;
  const Counts at_begin_;
  Counts counts_;  // the last ones
};

}  // namespace saccade
