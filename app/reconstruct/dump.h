// A dump read back: the emissions of one folder, as pictures in 0..255 whatever they were stored as.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/dump/npy_reader.h"
#include "kernels/patch_batch.h"
#include "kernels/patch_plan.h"
#include "kernels/shared/fovea.h"

namespace saccade {

// What meta.json says that painting needs.
struct DumpFacts {
  std::string directory;
  std::string input;  // the name of what was dumped
  std::string uri;    // as it was named
  int width_px = 0;   // of the frame, before the sample aspect ratio
  int height_px = 0;
  double sar = 1.0;
  int patch_size = 0;        // S
  std::int64_t patches = 0;  // N
  SampleFormat format;
  shared::FoveaParams fovea{};
  std::string fovea_unit;  // "deg" or "uv": what fovea.e0 counts
  std::string lattice;     // in a line; empty: meta.json doesn't say
  bool only_news = false;  // of lattice adaptive: an emission has what the receiver lacked, and all of them the picture
  bool live = false;
  bool compact = false;  // ragged: at most N patches an emission, those inside the frame
};

struct DumpIndex {
  std::int64_t frame = 0;
  std::int64_t pts_ns = 0;
  float fix_u = 0, fix_v = 0;
  bool in_flight = false;
  std::int32_t damaged_tiles = 0;  // of the frame; -1: not known
  std::int32_t gaps = 0;           // of a live stream, before it
};

// What manifest.json says of the whole run.
struct DumpTotals {
  std::int64_t frames = 0;
  double media_s = 0;
  std::int64_t tiles = 0, damaged_tiles = 0;
  std::int64_t bytes_uploaded = 0, bytes_full_upload = 0;
};

// Is this a folder? Then no video, but a dump, or nothing that is known.
bool may_be_dump(const std::string& name);

// Makes each time at least a nanosecond later than the one before. Those of a whole dump stay as they are.
void make_rise(std::vector<std::int64_t>& times_ns);
// How long the last of these pictures stays: the mean of the steps between them, or a second of one that is alone.
std::int64_t hold_ns(const std::vector<std::int64_t>& times_ns);

// Opens and checks everything at once; throws InputError naming the file at fault. One thread.
class DumpReader {
 public:
  explicit DumpReader(const std::string& directory);

  const DumpFacts& facts() const { return facts_; }
  bool complete() const { return complete_; }            // the manifest is there
  std::optional<DumpTotals> totals() const;              // none: the manifest is missing or says no numbers
  std::int64_t emissions() const { return emissions_; }  // what every array holds
  DumpIndex index(std::int64_t emission) const;
  void patches(std::int64_t emission, std::vector<Patch>& out) const;  // N, or as many as there are
  void samples(std::int64_t emission, std::vector<float>& out) const;  // of each 3 x S x S, R'G'B' in 0..255
  std::int64_t patch_count(std::int64_t emission) const;
  std::optional<std::int64_t> changed(std::int64_t emission) const;  // how many of its patches; none: not recorded

 private:
  void open_compact(const std::string& directory);
  std::span<const std::byte> of_emission(const NpyArray& array, std::int64_t emission) const;
  std::int64_t offset(std::int64_t emission) const;
  DumpFacts facts_;
  bool complete_ = false;
  std::int64_t emissions_ = 0;
  NpyArray patches_;
  NpyArray geometry_;
  NpyArray index_;
  std::optional<NpyArray> changed_, live_;
  std::optional<NpyArray> offsets_;  // of a compact dump
};

}  // namespace saccade
