#include "gpu/nvtx_range.h"

#if __has_include(<nvtx3/nvToolsExt.h>)  // comes with CUDA's toolkit
#include <nvtx3/nvToolsExt.h>
#define SACCADE_NVTX 1
#endif

namespace saccade {

#if defined(SACCADE_NVTX)
NvtxRange::NvtxRange(const char* name) { nvtxRangePushA(name); }
NvtxRange::~NvtxRange() { nvtxRangePop(); }
#else
NvtxRange::NvtxRange(const char*) {}
NvtxRange::~NvtxRange() = default;
#endif

}  // namespace saccade
