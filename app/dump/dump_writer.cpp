#include "app/dump/dump_writer.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstring>
#include <utility>

#include "gpu/device_error.h"
#include "gpu/nvtx_range.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kFlushPeriod = std::chrono::milliseconds(500);
constexpr std::size_t kLiveBytes = 20;
constexpr const char* kLiveDescr = "[('captured_unix_ns','<i8'),('age_ns','<i8'),('gaps','<i4')]";

const char* descr(SampleType type) {
  return type == SampleType::kU8 ? "'|u1'" : type == SampleType::kF16 ? "'<f2'" : "'<f4'";
}

std::size_t patch_bytes(const DumpShape& shape) {
  return 3 * static_cast<std::size_t>(shape.patch_size) * static_cast<std::size_t>(shape.patch_size) *
         size_bytes(shape.type);
}

std::size_t patches_bytes(const DumpShape& shape) {
  return static_cast<std::size_t>(shape.patches) * patch_bytes(shape);
}

// Of arrays with a row an emission, or a row a patch.
std::vector<std::int64_t> row_shape(const DumpShape& shape, std::vector<std::int64_t> of_patch) {
  if (!shape.compact) of_patch.insert(of_patch.begin(), shape.patches);
  return of_patch;
}

std::size_t row_bytes(const DumpShape& shape, std::size_t of_patch) {
  return shape.compact ? of_patch : static_cast<std::size_t>(shape.patches) * of_patch;
}

// Packed, little endian.
template <std::size_t kBytes, typename... Values>
std::array<std::byte, kBytes> packed(const Values&... values) {
  static_assert((sizeof(Values) + ...) == kBytes);
  std::array<std::byte, kBytes> row;
  std::size_t at = 0;
  const auto put = [&](const auto& value) {
    std::memcpy(row.data() + at, &value, sizeof value);
    at += sizeof value;
  };
  (put(values), ...);
  return row;
}

// In the order of kIndexFields.
std::array<std::byte, kIndexBytes> index_row(const Emission& e) {
  return packed<kIndexBytes>(e.frame, e.pts_ns, e.fix_u, e.fix_v, static_cast<std::uint8_t>(e.in_flight),
                             e.damaged_tiles);
}

}  // namespace

std::string index_descr() {
  std::string fields;
  for (const IndexField& field : kIndexFields) {
    fields += fmt::format("{}('{}','{}')", fields.empty() ? "" : ",", field.name, field.type);
  }
  return "[" + fields + "]";
}

DumpFiles::DumpFiles(const std::string& directory, const DumpShape& shape)
    : shape_(shape),
      patches_(directory + "/patches.npy", descr(shape.type), row_shape(shape, {3, shape.patch_size, shape.patch_size}),
               row_bytes(shape, patch_bytes(shape))),
      geometry_(directory + "/geometry.npy", "'<f4'", row_shape(shape, {4}), row_bytes(shape, 4 * sizeof(float))),
      changed_(directory + "/changed.npy", "'|u1'", row_shape(shape, {}), row_bytes(shape, 1)),
      index_(directory + "/index.npy", index_descr(), {}, kIndexBytes),
      live_(shape.live ? std::make_unique<NpyFile>(directory + "/live.npy", kLiveDescr, std::vector<std::int64_t>{},
                                                   kLiveBytes)
                       : nullptr),
      pointer_(shape.pointer
                   ? std::make_unique<NpyFile>(directory + "/pointer.npy", "'<f4'", std::vector<std::int64_t>{2}, 8)
                   : nullptr),
      offsets_(shape.compact ? std::make_unique<NpyFile>(directory + "/offsets.npy", "'<i8'",
                                                         std::vector<std::int64_t>{}, sizeof(std::int64_t))
                             : nullptr),
      all_{&patches_, &geometry_, &changed_, &index_},
      geometry_row_(static_cast<std::size_t>(shape.patches) * 4) {
  if (live_) all_.push_back(live_.get());
  if (pointer_) all_.push_back(pointer_.get());
  if (!offsets_) return;
  all_.push_back(offsets_.get());
  offsets_->append(&entries_);  // 0
  offsets_->drain();
  offsets_->commit(1);
}

void DumpFiles::append(const Emission& e) {
  if (e.batch.bytes().size() != patches_bytes(shape_) || e.plan.count() != static_cast<std::size_t>(shape_.patches)) {
    throw Error(ErrorKind::kOutput, "the number of patches changed within a stream; a dump has one shape");
  }
  float* at = geometry_row_.data();
  for (const Patch& patch : e.plan.patches) {
    *at++ = patch.x_px / static_cast<float>(shape_.width_px);
    *at++ = patch.y_px / static_cast<float>(shape_.height_px);
    *at++ = patch.lod;
    *at++ = patch.coverage;
  }
  if (offsets_) {
    append_visible(e);
  } else {
    append_patches(e);
  }
  index_.append(index_row(e).data());
  if (live_) live_->append(packed<kLiveBytes>(e.captured_unix_ns, e.age_ns, e.gaps).data());
  if (pointer_) pointer_->append(std::array{e.pointer_u, e.pointer_v}.data());
  ++rows_;
}

void DumpFiles::append_patches(const Emission& e) {
  patches_.append(e.batch.bytes().data());
  geometry_.append(geometry_row_.data());
  changed_.append(e.changed.data());
  for (const std::uint8_t changed : e.changed) patches_changed_ += changed;
  ++entries_;
}

void DumpFiles::append_visible(const Emission& e) {
  for (std::size_t n = 0; n < e.plan.count(); ++n) {
    if (!(e.plan.patches[n].coverage > 0)) continue;
    patches_.append(e.batch.patch(n).data());
    geometry_.append(geometry_row_.data() + 4 * n);
    changed_.append(e.changed.data() + n);
    patches_changed_ += e.changed[n];
    ++entries_;
  }
  offsets_->append(&entries_);
}

// The patches first: offsets that are there point to rows that are there.
void DumpFiles::flush() {
  if (rows_ == rows_flushed_) return;
  for (NpyFile* file : all_) file->drain();
  for (NpyFile* file : {&patches_, &geometry_, &changed_}) file->commit(entries_);
  index_.commit(rows_);
  if (live_) live_->commit(rows_);
  if (pointer_) pointer_->commit(rows_);
  if (offsets_) offsets_->commit(rows_ + 1);
  rows_flushed_ = rows_;
}

void DumpFiles::close() {
  flush();
  for (NpyFile* file : all_) file->close();
}

std::int64_t DumpFiles::bytes_written() const {
  std::int64_t bytes = 0;
  for (const NpyFile* file : all_) bytes += file->bytes_written();
  return bytes;
}

DumpWriter::DumpWriter(std::unique_ptr<DumpFiles> files, EmissionQueue& queue, std::function<void()> on_failure,
                       std::function<void(bool)> on_writing)
    : files_(std::move(files)),
      queue_(queue),
      on_failure_(std::move(on_failure)),
      on_writing_(std::move(on_writing)),
      thread_([this] { run(); }) {}

DumpWriter::~DumpWriter() {
  if (!thread_.joinable()) return;
  queue_.abort();
  thread_.join();
}

void DumpWriter::finish() {
  drain();
  if (failed_.load()) throw_fault(fault_);
}

void DumpWriter::drain() {
  if (thread_.joinable()) thread_.join();
}

void DumpWriter::keep_what_came() {
  try {
    flush();
  } catch (const Error&) {  // the one on its way is told
  }
}

void DumpWriter::flush() {
  const WaitsForDisk waits(on_writing_);
  files_->flush();
}

void DumpWriter::run() {
  try {
    auto flush_at = Clock::now() + kFlushPeriod;
    while (!queue_.ended()) {
      Emission* emission = queue_.take(flush_at);
      if (emission != nullptr) {
        const auto begin = Clock::now();
        const NvtxRange range("write");
        settle(*emission);
        {
          const WaitsForDisk waits(on_writing_);  // not in settle(), which waits for the device
          files_->append(*emission);
        }
        queue_.release(emission);
        times_.record(std::chrono::nanoseconds(Clock::now() - begin).count());
      }
      const auto now = Clock::now();
      if (now >= flush_at && (emission == nullptr || now >= flush_at + kFlushPeriod)) {
        flush();
        flush_at = Clock::now() + kFlushPeriod;
      }
    }
    const WaitsForDisk waits(on_writing_);
    files_->close();
  } catch (const std::exception& error) {
    const auto* device = dynamic_cast<const DeviceError*>(&error);  // in batch.wait(), between two rows
    fault_ = caught_fault(ErrorKind::kOutput);
    if (device != nullptr) keep_what_came();
    failed_.store(true);
    queue_.abort();
    on_failure_();
  }
}

}  // namespace saccade
