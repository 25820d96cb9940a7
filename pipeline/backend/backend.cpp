#include "pipeline/backend/backend.h"

#include <fmt/format.h>

#if !defined(SACCADE_GL)
#include "pipeline/backend/caller_context.h"
#endif
#if !defined(SACCADE_GL) || !defined(SACCADE_CUDA)
#include "pipeline/backend/gl_buffer.h"
#endif
#include "pipeline/error.h"

namespace saccade {

// What stands in for backends that this build leaves out.
#if !defined(SACCADE_GL)
const BackendRow kGlRow{Backend::kGl, "gl", kGlTraits,
                        [](int) -> std::string { return "this build has no OpenGL (SACCADE_GL)"; }, nullptr};
namespace gl {
class EglCurrent {};
}  // namespace gl
CallerContext::CallerContext(bool) {}
CallerContext::~CallerContext() = default;
#endif
#if !defined(SACCADE_GL) || !defined(SACCADE_CUDA)
std::unique_ptr<SharedGlBuffer> share_gl_buffer(unsigned, int) {
  throw UnavailableError("OpenGL buffers of CUDA: this build lacks one of both (SACCADE_GL, SACCADE_CUDA)");
}
#endif
#if !defined(SACCADE_CUDA)
const BackendRow kCudaRow{Backend::kCuda, "cuda", kCudaTraits,
                          [](int) -> std::string { return "this build has no CUDA (SACCADE_CUDA)"; }, nullptr};
#endif

namespace {

constexpr const BackendRow* kBackends[] = {&kCpuRow, &kGlRow, &kCudaRow};

const BackendRow& row_of(Backend backend) {
  for (const BackendRow* row : kBackends) {
    if (row->backend == backend) return *row;
  }
  throw UsageError("no such backend");
}

std::string choices(std::string_view separator) {
  std::string list(kAutoBackend);
  for (const BackendRow* row : kBackends) list.append(separator).append(row->name);
  return list;
}

}  // namespace

const char* name(Backend backend) { return row_of(backend).name; }

std::string backend_choices() { return choices("|"); }

const BackendTraits& traits(Backend backend) { return row_of(backend).traits; }

std::span<const BackendRow* const> all_backends() { return kBackends; }

std::optional<Backend> backend_named(std::string_view asked) {
  for (const BackendRow* row : kBackends) {
    if (asked == row->name) return row->backend;
  }
  return std::nullopt;
}

const BackendTraits* traits_of(std::string_view asked) {
  const std::optional<Backend> backend = backend_named(asked);
  return backend ? &traits(*backend) : nullptr;
}

std::string backends_that(bool BackendTraits::*can) {
  std::string list;
  for (const BackendRow* row : kBackends) {
    if (row->traits.*can) list.append(list.empty() ? "" : "|").append(row->name);
  }
  return list;
}

Backend first_that(bool BackendTraits::*can) {
  for (const BackendRow* row : kBackends) {
    if (row->traits.*can) return row->backend;
  }
  throw UsageError("no backend can do that");
}

std::string why_unavailable(Backend backend, int device) { return row_of(backend).why_unavailable(device); }

Backend choose_backend(const std::string& asked, std::string& reason, int device) {
  reason.clear();
  if (asked == kAutoBackend) {
    const std::string why_not = why_unavailable(Backend::kCuda, device);
    // Who names a device wants that one: the CPU in its place would be a surprise.
    if (device != 0 && !why_not.empty()) throw UnavailableError(OfOption("device", fmt::to_string(device)), why_not);
    reason = why_not.empty() ? "a CUDA device can be used" : "no CUDA: " + why_not;
    return why_not.empty() ? Backend::kCuda : Backend::kCpu;
  }
  for (const BackendRow* row : kBackends) {
    if (asked != row->name) continue;
    const std::string why_not = row->why_unavailable(device);
    if (!why_not.empty()) {
      throw UnavailableError(OfOption("backend", asked), why_not, Hint::kOtherBackend);
    }
    return row->backend;
  }
  throw UsageError(OfOption("backend", asked), fmt::format("it is one of {}", choices(", ")));
}

bool suits_any_thread(Backend backend, UploadPath upload) {
  return traits(backend).any_thread && upload != UploadPath::kPbo;
}

bool suits_any_thread(std::string_view asked) {
  const BackendTraits* const asked_traits = traits_of(asked);
  return asked_traits == nullptr || asked_traits->any_thread;
}

std::unique_ptr<Texture> make_texture(const BackendConfig& config, const PyramidLayout& layout) {
  const BackendRow& row = row_of(config.backend);
  if (row.make == nullptr) {
    throw UnavailableError(OfOption("backend", row.name), row.why_unavailable(config.device), Hint::kOtherBackend);
  }
  return row.make(config, layout);
}

}  // namespace saccade
