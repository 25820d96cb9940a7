// Where samples go: N x 3 x S x S values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/enum_names.h"
#include "kernels/frame_view.h"
#include "kernels/patch_plan.h"

namespace saccade {

enum class SampleType : std::uint8_t { kU8, kF16, kF32 };
inline constexpr EnumName<SampleType> kSampleTypes[] = {
    {SampleType::kU8, "u8"}, {SampleType::kF16, "f16"}, {SampleType::kF32, "f32"}};
constexpr std::span<const EnumName<SampleType>> names_of(SampleType) { return kSampleTypes; }

constexpr std::size_t size_bytes(SampleType type) {
  return type == SampleType::kU8 ? 1 : type == SampleType::kF16 ? 2 : 4;
}

// How an R'G'B' sample in 0..1 becomes a value. u8: round(255 v), mean and std must be 0 and 1.
// f16, f32: (v - mean[c]) * inv_std[c].
struct SampleFormat {
  SampleType type = SampleType::kU8;
  std::array<float, 3> mean{0, 0, 0};
  std::array<float, 3> inv_std{1, 1, 1};
  bool operator==(const SampleFormat&) const = default;
};

// Host memory that a device writes while the host goes on (page-locked, say).
class PatchMemory {
 public:
  virtual ~PatchMemory() = default;
  virtual std::byte* data() = 0;  // 64-byte aligned
  virtual void wait() const = 0;  // until what was last asked to be written there is there; any thread
};

// A backend that has such memory, for Texture::make_batch.
class PatchMemorySource {
 public:
  virtual std::unique_ptr<PatchMemory> make_memory(std::size_t size_bytes) const = 0;

 protected:
  ~PatchMemorySource() = default;
};

// N x 3 x S x S, row-major, in host memory, 64-byte aligned unless it is a caller's. Allocated once; a sampler
// overwrites it. Move-only.
class PatchBatch {
 public:
  PatchBatch() = default;
  PatchBatch(std::size_t count, int patch_size, SampleFormat format);
  // In memory of a backend's own, which Texture::submit fills: of at least bytes_of(count, patch_size, format).
  PatchBatch(std::size_t count, int patch_size, SampleFormat format, std::unique_ptr<PatchMemory> memory);
  // In memory of the caller's, which outlives the batch and all work on it: of that size, aligned to a sample.
  PatchBatch(std::size_t count, int patch_size, SampleFormat format, std::byte* memory);
  static std::size_t bytes_of(std::size_t count, int patch_size, const SampleFormat& format);

  // Before the bytes are read, after Texture::submit: blocks until they are there.
  void wait() const {
    if (memory_) memory_->wait();
  }
  PatchMemory* memory() { return memory_.get(); }  // null: plain memory

  std::size_t count() const { return count_; }
  int patch_size() const { return patch_size_; }
  const SampleFormat& format() const { return format_; }
  std::size_t patch_bytes() const;  // 3 * S * S * bytes of a sample
  std::span<std::byte> bytes();
  std::span<const std::byte> bytes() const;
  std::span<std::byte> patch(std::size_t n) { return bytes().subspan(n * patch_bytes(), patch_bytes()); }
  std::span<const std::byte> patch(std::size_t n) const { return bytes().subspan(n * patch_bytes(), patch_bytes()); }

 private:
  std::size_t count_ = 0;
  int patch_size_ = 0;
  SampleFormat format_;
  std::unique_ptr<PatchMemory> memory_;  // or else
  std::vector<std::byte> storage_;       // or else the caller's
  std::byte* data_ = nullptr;            // the first byte of it
};

// Memory of a caller's own that an emission is written into. All pointers are of `space`; all except `patches` may be
// null: not wanted.
struct PatchTarget {
  MemorySpace space = MemorySpace::kHost;
  int device = 0;          // kCuda: by CUDA's ordinal
  void* stream = nullptr;  // kCuda: the cudaStream_t in whose order this memory is the caller's
  SampleFormat format;
  std::byte* patches = nullptr;           // N x 3 x S x S of `format`
  float* geometry = nullptr;              // N x 4: u, v, lod, coverage
  std::uint8_t* changed = nullptr;        // N
  std::int32_t* damaged_tiles = nullptr;  // 1
};
inline bool is_on_device(const PatchTarget* target) { return target != nullptr && target->space == MemorySpace::kCuda; }

// Throws std::invalid_argument, with both, when plan and batch differ in N or S.
void check_same_shape(const PatchPlan& plan, const PatchBatch& batch);

}  // namespace saccade
