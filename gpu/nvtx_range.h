// Named spans for NVIDIA's profilers (nsys, ncu): a line of their own in the timeline.
#pragma once

namespace saccade {

// From here to the end of the scope, on this thread; ranges nest. Does nothing, and costs next to nothing, in builds
// without CUDA and where no profiler listens. name: a literal.
class NvtxRange {
 public:
  explicit NvtxRange(const char* name);
  ~NvtxRange();
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace saccade
