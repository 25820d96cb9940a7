// Makes the seams of a backend. Chosen once, at start; never swapped silently.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/fused_update.h"
#include "kernels/pyramid.h"
#include "kernels/tile_differ.h"
#include "kernels/upload_path.h"
#include "pipeline/log.h"

namespace saccade {

namespace gl {
class Context;
}

enum class Backend : std::uint8_t { kCpu, kGl, kCuda };
const char* name(Backend backend);  // "cpu", "gl", "cuda"

// "cpu", "gl" and "cuda" mean just that; "auto" is cuda where a card can be used, else cpu. `reason` says in one line
// why auto chose so, and stays empty otherwise. Throws UnavailableError, with the reason, when the one asked for isn't
// in this build or has no device; UsageError for another word.
Backend choose_backend(const std::string& asked, std::string& reason);

// Why a backend can't be used here; empty when it can. For gl this makes and drops a context.
std::string why_unavailable(Backend backend);

struct BackendParts {
  std::shared_ptr<void> context;  // what the others live in (a GL context), if it is ours
  std::unique_ptr<Pyramid> pyramid;
  std::unique_ptr<TileDiffer> differ;  // refers to `pyramid`; may be null beside `fused`
  std::unique_ptr<FusedUpdate> fused;  // null: this backend works stage by stage. Refers to `pyramid`
};

struct BackendConfig {
  Backend backend = Backend::kCpu;
  DiffConfig diff;
  bool staged = false;                      // each of diff, upload and mips by itself, and no FusedUpdate
  UploadPath upload = UploadPath::kAuto;    // of gl and cuda
  MemorySpace frames = MemorySpace::kHost;  // where the first one lies; later ones may come from elsewhere
  bool calibrate = true;                    // gl: by the costs measured here; false: by fixed ones, the same everywhere
  // The caller's context, current and kept alive by the caller: gl works in it, and cuda on textures of it. Null: gl,
  // and cuda with UploadPath::kPbo, make an offscreen one.
  const gl::Context* gl = nullptr;
  Log log;
};

// On the thread that will use it. Throws DeviceError when the device refuses, UnavailableError for what is not there.
BackendParts make_backend(const BackendConfig& config, const PyramidLayout& layout);

// One of these per backend, in its own file.
BackendParts make_gl_backend(const BackendConfig& config, const PyramidLayout& layout);
std::string why_no_gl();
BackendParts make_cuda_backend(const BackendConfig& config, const PyramidLayout& layout);
std::string why_no_cuda();

// Backend cuda on GL's textures.
BackendParts make_cuda_gl_backend(const BackendConfig& config, const PyramidLayout& layout);

}  // namespace saccade
