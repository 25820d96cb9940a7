// Makes the seams of a backend. Chosen once, at start; never swapped silently.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/fused_update.h"
#include "kernels/pyramid.h"
#include "kernels/tile_differ.h"

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

// On the thread that will use it. `staged`: each of diff, upload and mips by itself, and no FusedUpdate. `gl`: the
// caller's context for backend gl, current and kept alive by the caller; null: an offscreen one is made.
BackendParts make_backend(Backend backend, const PyramidLayout& layout, const DiffConfig& diff, bool staged = false,
                          const gl::Context* gl = nullptr);

// One of these per backend, in its own file.
BackendParts make_gl_backend(const PyramidLayout& layout, const DiffConfig& diff, const gl::Context* gl);
std::string why_no_gl();
BackendParts make_cuda_backend(const PyramidLayout& layout, const DiffConfig& diff, bool staged);
std::string why_no_cuda();

}  // namespace saccade
