#include "kernels/patch_batch.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace saccade {
namespace {

constexpr std::size_t kAlignment = 64;

}  // namespace

PatchBatch::PatchBatch(std::size_t count, int patch_size, SampleFormat format)
    : count_(count), patch_size_(patch_size), format_(format), storage_(count * patch_bytes() + kAlignment) {
  const auto address = reinterpret_cast<std::uintptr_t>(storage_.data());
  data_ = storage_.data() + (kAlignment - address % kAlignment) % kAlignment;
}

PatchBatch::PatchBatch(std::size_t count, int patch_size, SampleFormat format, std::unique_ptr<PatchMemory> memory)
    : count_(count), patch_size_(patch_size), format_(format), memory_(std::move(memory)), data_(memory_->data()) {}

PatchBatch::PatchBatch(std::size_t count, int patch_size, SampleFormat format, std::byte* memory)
    : count_(count), patch_size_(patch_size), format_(format), data_(memory) {}

std::size_t PatchBatch::bytes_of(std::size_t count, int patch_size, const SampleFormat& format) {
  return count * 3 * static_cast<std::size_t>(patch_size) * static_cast<std::size_t>(patch_size) *
         size_bytes(format.type);
}

std::size_t PatchBatch::patch_bytes() const { return bytes_of(1, patch_size_, format_); }

std::span<std::byte> PatchBatch::bytes() { return {data_, count_ * patch_bytes()}; }
std::span<const std::byte> PatchBatch::bytes() const { return {data_, count_ * patch_bytes()}; }

void check_same_shape(const PatchPlan& plan, const PatchBatch& batch) {
  if (plan.count() == batch.count() && plan.patch_size == batch.patch_size()) return;
  throw std::invalid_argument(fmt::format("a batch of {} patches of size {} cannot hold a plan of {} of size {}",
                                          batch.count(), batch.patch_size(), plan.count(), plan.patch_size));
}

}  // namespace saccade
