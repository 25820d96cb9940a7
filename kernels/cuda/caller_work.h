// What a CudaTexture needs to write into a caller's device memory in the order of the caller's stream.
#pragma once

#include <memory>
#include <vector>

#include "gpu/cuda/stream.h"
#include "kernels/cuda/places.h"
#include "kernels/device_texture.h"
#include "kernels/pyramid_layout.h"

namespace saccade::cuda {

// Made when the first frame goes that way.
struct CallerWork {
  CallerWork(int device, const PyramidLayout& layout, cudaStream_t stream)
      : places(device, layout, stream), theirs(device), ours(device) {}

  // Until when a frame is read. One that nobody else holds is used again.
  class Mark final : public DeviceMark {
   public:
    explicit Mark(int device) : event_(device) {}
    void record(cudaStream_t stream) { event_.record(stream); }
    bool done() const override { return event_.done(); }
    void wait() const override { event_.wait(); }

   private:
    CudaEvent event_;
  };
  std::shared_ptr<Mark> free_mark(int device);

  DevicePlaces places;
  CudaEvent theirs;  // what the caller's stream has queued
  CudaEvent ours;    // what the texture's has
  std::vector<std::shared_ptr<Mark>> marks;
};

}  // namespace saccade::cuda
