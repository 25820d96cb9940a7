// Writes the files of a plan, items in the order in which they are to be done.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "app/files/sha256.h"
#include "app/work/plan/plan.h"

namespace saccade {

// A folder beside the plan's own until finish() renames it; of a bucket a folder of this machine until finish() puts
// its files. Throws Error of kOutput. The destructor of an unfinished one removes it.
class PlanWriter {
 public:
  // bytes_per_s: of patches a second of media makes.
  PlanWriter(Store& store, double unit_s, double unit_bytes, double bytes_per_s);
  ~PlanWriter();
  PlanWriter(const PlanWriter&) = delete;
  PlanWriter& operator=(const PlanWriter&) = delete;

  void add(const WorkItem& item);
  // facts: plan.json without hash and counts. False: another plan was there first.
  bool finish(Json facts);

 private:
  void close_unit();
  void put(std::ofstream& file, Sha256& digest, const std::string& line);

  bool put(const Json& facts);  // into a bucket
  Store& store_;
  const std::string folder_;
  const double unit_s_;
  const double unit_bytes_;
  const double bytes_per_s_;
  std::ofstream items_;
  std::ofstream units_;
  Sha256 items_digest_, units_digest_;
  PlannedUnit unit_;
  std::int64_t units_done_ = 0;
  std::int64_t items_done_ = 0;
  double media_s_ = 0;
  std::uint64_t offset_ = 0;
};

}  // namespace saccade
