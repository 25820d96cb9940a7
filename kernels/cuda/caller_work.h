// What a CudaTexture needs to write into a caller's device memory in the order of the caller's stream.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gpu/cuda/buffer.h"
#include "gpu/cuda/stream.h"
#include "kernels/cuda/places.h"
#include "kernels/device_texture.h"
#include "kernels/pyramid_layout.h"

namespace saccade::cuda {

// Made when the first frame goes that way.
struct CallerWork {
  CallerWork(int device, const PyramidLayout& layout, cudaStream_t stream)
      : places(device, layout, stream),
        theirs(device),
        ours(device),
        uploads{Upload(device), Upload(device), Upload(device), Upload(device)} {}

  // Page-locked records on their way to the device: rewritten only after the copy out of them is done. So many that the
  // host rarely finds one in use.
  struct Upload {
    explicit Upload(int device) : copied(device) {}
    PinnedBuffer bytes;
    CudaEvent copied;
  };

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
  std::array<Upload, 4> uploads;
  std::size_t upload = 0;
  std::vector<PlaceRecord> sent_places;  // what the device has, beside the plan
  std::vector<std::shared_ptr<Mark>> marks;
};

}  // namespace saccade::cuda
