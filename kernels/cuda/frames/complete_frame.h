// Pictures in a caller's device memory that are no texture's format, completed on the device.
#pragma once

#include <cstdint>

#include "gpu/cuda/buffer.h"
#include "gpu/cuda/stream.h"
#include "kernels/frame_view.h"

namespace saccade::cuda {

// Device memory for one picture of a size: RGBA of R'G'B', or the chroma that gray lacks. One thread. The work is
// queued in the caller's stream, a cudaStream_t of the device, which must also wait for whoever reads the result before
// it is overwritten. Throws CudaError.
class CompletedFrame {
 public:
  CompletedFrame(int device, int width_px, int height_px, bool rgb);

  void begin(void* stream);  // a picture; after the last one, whose stream may have been another
  PlaneView pack(const RgbPlanes& from, void* stream);
  PlaneView gray_chroma(void* stream);

 private:
  int device_;
  int width_px_;
  int height_px_;
  CudaBuffer memory_;
  CudaEvent before_;
  void* last_ = nullptr;  // the stream of the last picture
  bool filled_ = false;
};

}  // namespace saccade::cuda
