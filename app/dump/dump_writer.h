// The writer thread: emissions into the four arrays of a dump.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/dump/dump_queue.h"
#include "app/dump/npy.h"
#include "pipeline/error.h"
#include "pipeline/run/stats.h"

namespace saccade {

// A field of a row of index.npy: packed in this order, little endian.
struct IndexField {
  const char* name;
  const char* type;  // NumPy's
  std::size_t bytes;
};
inline constexpr std::array kIndexFields = {IndexField{"frame", "<i8", 8},     IndexField{"pts_ns", "<i8", 8},
                                            IndexField{"fix_u", "<f4", 4},     IndexField{"fix_v", "<f4", 4},
                                            IndexField{"in_flight", "|u1", 1}, IndexField{"damaged_tiles", "<i4", 4}};
inline constexpr std::size_t kIndexBytes = [] {
  std::size_t bytes = 0;
  for (const IndexField& field : kIndexFields) bytes += field.bytes;
  return bytes;
}();
std::string index_descr();  // of a row, as NpyFile and NpyArray want it: "[('frame','<i8'),...]"

// What every row looks like.
struct DumpShape {
  std::int64_t patches = 0;  // N
  int patch_size = 0;        // S
  SampleType type = SampleType::kU8;
  int width_px = 0;  // of the displayed frame: geometry.npy is in its units
  int height_px = 0;
  bool live = false;     // live.npy as well
  bool pointer = false;  // pointer.npy as well
  bool compact = false;  // without the patches outside the frame, and offsets.npy as well
};

// patches.npy, geometry.npy, changed.npy, index.npy, of a live source live.npy, and of a screen pointer.npy. Rows count
// once all files hold them: after each flush, at most half a second apart. Throws Error naming the file and the reason.
// A compact dump's first three have a row a patch: those of emission e are rows offsets[e] to offsets[e + 1] of
// offsets.npy, which counts patches.
class DumpFiles {
 public:
  DumpFiles(const std::string& directory, const DumpShape& shape);
  void append(const Emission& emission);
  void flush();
  void close();
  std::int64_t rows() const { return rows_; }
  std::int64_t patches_changed() const { return patches_changed_; }  // 1s in changed.npy
  std::int64_t rows_flushed() const { return rows_flushed_; }
  std::int64_t bytes_written() const;

 private:
  DumpShape shape_;
  NpyFile patches_;
  NpyFile geometry_;
  NpyFile changed_;
  NpyFile index_;
  std::unique_ptr<NpyFile> live_;     // null: not live
  std::unique_ptr<NpyFile> pointer_;  // null: not a screen
  std::unique_ptr<NpyFile> offsets_;  // null: not compact
  std::vector<NpyFile*> all_;
  void append_patches(const Emission& emission);
  void append_visible(const Emission& emission);
  std::vector<float> geometry_row_;
  std::int64_t entries_ = 0;  // rows of the arrays of patches
  std::int64_t rows_ = 0;
  std::int64_t patches_changed_ = 0;
  std::int64_t rows_flushed_ = 0;
};

// While one of these lives a thread writes to the disk, or waits for it: `tell` hears true at its begin, false at its
// end. Several may live at a time, on several threads.
class WaitsForDisk {
 public:
  explicit WaitsForDisk(const std::function<void(bool)>& tell) : tell_(tell) {
    if (tell_) tell_(true);
  }
  ~WaitsForDisk() {
    if (tell_) tell_(false);
  }
  WaitsForDisk(const WaitsForDisk&) = delete;
  WaitsForDisk& operator=(const WaitsForDisk&) = delete;

 private:
  const std::function<void(bool)>& tell_;
};

// Runs from the constructor until the queue ended. A failed write aborts the queue and calls `on_failure` on the
// writer's thread. The destructor aborts and joins.
class DumpWriter {
 public:
  DumpWriter(std::unique_ptr<DumpFiles> files, EmissionQueue& queue, std::function<void()> on_failure,
             std::function<void(bool)> on_writing = {});
  ~DumpWriter();
  void finish();  // after queue.finish(): joins; throws Error when writing failed
  void drain();   // as finish(), where another error is on its way already
  bool failed() const { return failed_.load(); }
  const DumpFiles& files() const { return *files_; }         // after finish()
  const DurationHistogram& times() const { return times_; }  // of a written emission; after finish()

 private:
  void run();
  void keep_what_came();
  void flush();
  std::unique_ptr<DumpFiles> files_;
  EmissionQueue& queue_;
  std::function<void()> on_failure_;
  const std::function<void(bool)> on_writing_;
  Fault fault_;
  std::atomic<bool> failed_{false};
  DurationHistogram times_;
  std::thread thread_;
};

}  // namespace saccade
