// The held picture on a device. See Note [Held picture] in kernels/held_picture.h.
#pragma once

#include <memory>
#include <span>

#include "kernels/cuda/held_memory.h"
#include "kernels/held_changes.h"
#include "kernels/held_picture.h"

namespace saccade::cuda {

struct CudaState;

// One launch a look and one a hold(), in the texture's stream. The kernel writes errors into page-locked memory itself,
// as Note [Patches to the host] says: a copy takes a third longer. measure() alone waits. Throws CudaError.
class CudaHeldPicture final : public HeldPicture {
 public:
  CudaHeldPicture(CudaState& texture, const ErrorMeasure& measure);
  ~CudaHeldPicture() override;
  CudaHeldPicture(const CudaHeldPicture&) = delete;
  CudaHeldPicture& operator=(const CudaHeldPicture&) = delete;

  int levels() const override { return levels_; }
  void note(const Damage& damage) override { changes_.note(damage); }
  TileErrors measure() override;
  void hold(std::span<const Square> squares) override;
  void forget() override { changes_.forget(); }
  void forget(const TileRect& tiles) override { changes_.forget(tiles); }

  void queue();  // measure() without the wait

 private:
  CudaState& texture_;
  ErrorMeasure measure_;
  int levels_;
  HeldChanges changes_;
  std::unique_ptr<HeldMemory> memory_;
};

}  // namespace saccade::cuda
