#include "app/info/info_machine.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>

#include "app/process/cores.h"
#include "gpu/nvdec/nvdec_caps.h"
#include "kernels/cpu/ops.h"
#include "pipeline/backend/backend.h"
#include "pipeline/source/ffmpeg/hardware.h"

#if SACCADE_GL
#include "gpu/gl/context.h"
#endif
#if SACCADE_CUDA
#include "gpu/cuda/device.h"
#endif

namespace saccade {
namespace {

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name") && !line.starts_with("Model")) continue;
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && colon + 2 < line.size()) return line.substr(colon + 2);
  }
  return "unknown";
}

// Makes and drops an offscreen context.
Availability gl_backend() {
#if SACCADE_GL
  try {
    const gl::Context context = gl::Context::offscreen();
    const gl::Capabilities& can = context.capabilities();
    return {"gl", true,
            fmt::format("{}, OpenGL {}, {}; textures up to {} a side; {}; {}; {}", can.renderer, can.version,
                        can.platform, can.max_texture_size,
                        can.software ? "levels and samples by the CPU" : "levels and samples by compute shaders",
                        can.persistent_mapping ? "persistently mapped buffers" : "no persistently mapped buffers",
                        can.timer_queries ? "timers" : "no timers")};
  } catch (const gl::GlError& error) {
    return {"gl", false, error.what()};
  }
#else
  return {"gl", false, why_unavailable(Backend::kGl)};
#endif
}

#if SACCADE_CUDA
// "580.159.04 ", as the kernel's module calls itself; empty where it does not.
std::string driver_number() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string word;
  while (file >> word) {
    if (word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos)
      return word + " ";
  }
  return "";
}
#endif

Availability cuda_backend() {
#if SACCADE_CUDA
  const CudaStatus status = query_cuda();
  std::string detail = fmt::format("runtime {}.{}", status.runtime_version / 1000, status.runtime_version % 1000 / 10);
  if (status.driver_version > 0) {
    detail += fmt::format(", driver {}for CUDA {}.{}", driver_number(), status.driver_version / 1000,
                          status.driver_version % 1000 / 10);
  }
  const std::string why_not = why_unavailable(Backend::kCuda);
  if (!why_not.empty()) detail += ": " + why_not;
  for (const CudaDevice& device : status.devices) {
    detail += fmt::format(", {} (compute {}.{}, {:.1f} GiB)", device.name, device.compute_major, device.compute_minor,
                          static_cast<double>(device.memory_bytes) / 0x1p30);
  }
  return {"cuda", why_not.empty(), detail};
#else
  return {"cuda", false, "not built (SACCADE_CUDA=OFF, or no nvcc when it was built)"};
#endif
}

Availability described(const BackendRow& row) {
  switch (row.backend) {
    case Backend::kCpu:
      return {row.name, true, fmt::format("SIMD {} by Highway", simd_target())};
    case Backend::kGl:
      return gl_backend();
    case Backend::kCuda:
      return cuda_backend();
  }
  const std::string why_not = row.why_unavailable(0);
  return {row.name, why_not.empty(), why_not};
}

}  // namespace

CpuFacts cpu_facts() { return {cpu_name(), usable_cores()}; }

std::int64_t memory_bytes() { return std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE); }

std::int64_t peak_resident_bytes() {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

std::vector<Availability> backends() {
  std::vector<Availability> all;
  for (const BackendRow* row : all_backends()) all.push_back(described(*row));
  return all;
}

std::vector<Availability> hardware_decoders() {
  const std::string why_not = why_no_decoding(HwDecode::kCuda);
  if (!why_not.empty()) return {{"cuda", false, why_not}};
  const NvdecStatus nvdec = query_nvdec();
  if (!nvdec.error.empty()) {
    return {{"cuda", true,
             fmt::format("NVDEC for those of these codecs that the GPU decodes: {} ({})",
                         fmt::join(cuda_codecs(), ", "), nvdec.error)}};
  }
  std::string detail = "NVDEC: ";
  for (const NvdecCodec& codec : nvdec.codecs) {
    detail += fmt::format("{}{} {} bit up to {}x{}", &codec == &nvdec.codecs.front() ? "" : ", ", codec.name,
                          fmt::join(codec.depths, "/"), codec.max_width, codec.max_height);
  }
  return {{"cuda", true, detail}};
}

}  // namespace saccade
