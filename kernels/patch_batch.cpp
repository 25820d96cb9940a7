#include "kernels/patch_batch.h"

namespace saccade {
namespace {

constexpr std::size_t kAlignment = 64;

}  // namespace

const char* name(SampleType type) {
  switch (type) {
    case SampleType::kU8:
      return "u8";
    case SampleType::kF16:
      return "f16";
    case SampleType::kF32:
      return "f32";
  }
  return "?";
}

PatchBatch::PatchBatch(std::size_t count, int patch_size, SampleFormat format)
    : count_(count), patch_size_(patch_size), format_(format), storage_(count * patch_bytes() + kAlignment) {
  const auto address = reinterpret_cast<std::uintptr_t>(storage_.data());
  offset_ = (kAlignment - address % kAlignment) % kAlignment;
}

std::size_t PatchBatch::patch_bytes() const {
  return 3 * static_cast<std::size_t>(patch_size_) * static_cast<std::size_t>(patch_size_) * size_bytes(format_.type);
}

std::span<std::byte> PatchBatch::bytes() { return {storage_.data() + offset_, count_ * patch_bytes()}; }
std::span<const std::byte> PatchBatch::bytes() const { return {storage_.data() + offset_, count_ * patch_bytes()}; }

}  // namespace saccade
