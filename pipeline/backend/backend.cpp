#include "pipeline/backend/backend.h"

#include <fmt/format.h>

#include "kernels/cpu/fused_update.h"
#include "kernels/cpu/pyramid.h"
#include "kernels/cpu/tile_differ.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

BackendParts make_cpu_backend(const BackendConfig& config, const PyramidLayout& layout) {
  BackendParts parts;
  auto pyramid = std::make_unique<CpuPyramid>(layout);
  if (config.staged) {
    parts.differ = std::make_unique<CpuTileDiffer>(*pyramid, config.diff);
  } else {
    parts.fused = std::make_unique<CpuFusedUpdate>(*pyramid, config.diff);
  }
  parts.pyramid = std::move(pyramid);
  return parts;
}

}  // namespace

#if !defined(SACCADE_GL)
std::string why_no_gl() { return "this build has no OpenGL (SACCADE_GL)"; }
BackendParts make_gl_backend(const BackendConfig&, const PyramidLayout&) {
  throw UnavailableError("backend gl: " + why_no_gl(), Hint::kOtherBackend);
}
#endif
#if !defined(SACCADE_CUDA)
std::string why_no_cuda() { return "this build has no CUDA (SACCADE_CUDA)"; }
BackendParts make_cuda_backend(const BackendConfig&, const PyramidLayout&) {
  throw UnavailableError("backend cuda: " + why_no_cuda(), Hint::kOtherBackend);
}
#endif
#if !defined(SACCADE_CUDA) || !defined(SACCADE_GL)
BackendParts make_cuda_gl_backend(const BackendConfig&, const PyramidLayout&) {
  throw UnavailableError("upload through pixel buffers: this build has no OpenGL (SACCADE_GL)", Hint::kDirectUpload);
}
#endif

const char* name(Backend backend) {
  switch (backend) {
    case Backend::kCpu:
      return "cpu";
    case Backend::kGl:
      return "gl";
    case Backend::kCuda:
      return "cuda";
  }
  return "?";
}

std::string why_unavailable(Backend backend) {
  switch (backend) {
    case Backend::kCpu:
      return "";
    case Backend::kGl:
      return why_no_gl();
    case Backend::kCuda:
      return why_no_cuda();
  }
  return "";
}

Backend choose_backend(const std::string& asked, std::string& reason) {
  reason.clear();
  if (asked == "auto") {
    const std::string why_not = why_no_cuda();
    reason = why_not.empty() ? "a CUDA device can be used" : "no CUDA: " + why_not;
    return why_not.empty() ? Backend::kCuda : Backend::kCpu;
  }
  for (const Backend backend : {Backend::kCpu, Backend::kGl, Backend::kCuda}) {
    if (asked != name(backend)) continue;
    const std::string why_not = why_unavailable(backend);
    if (!why_not.empty()) {
      throw UnavailableError(fmt::format("backend {}: {}", asked, why_not), Hint::kOtherBackend);
    }
    return backend;
  }
  throw UsageError(fmt::format("backend {}: it is one of auto, cpu, gl, cuda", asked));
}

BackendParts make_backend(const BackendConfig& config, const PyramidLayout& layout) {
  switch (config.backend) {
    case Backend::kCpu:
      return make_cpu_backend(config, layout);
    case Backend::kGl:
      return make_gl_backend(config, layout);
    case Backend::kCuda:
      return make_cuda_backend(config, layout);
  }
  throw UsageError("no such backend");
}

}  // namespace saccade
