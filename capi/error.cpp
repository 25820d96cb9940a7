#include "capi/error.h"

#include <fmt/format.h>

#include <new>

#include "gpu/device_error.h"

namespace saccade::capi {
namespace {

struct LastError {
  saccade_status status = SACCADE_OK;
  std::string message;
  Hint hint = Hint::kNone;
  std::string option;
  std::size_t option_at = 0;
};

static_assert(static_cast<int>(Hint::kNone) == SACCADE_HINT_NONE);
static_assert(static_cast<int>(Hint::kRaisePixelLimit) == SACCADE_HINT_RAISE_PIXEL_LIMIT);
static_assert(static_cast<int>(Hint::kMorePatches) == SACCADE_HINT_MORE_PATCHES);
static_assert(static_cast<int>(Hint::kCpuBackend) == SACCADE_HINT_CPU_BACKEND);
static_assert(static_cast<int>(Hint::kOffscreen) == SACCADE_HINT_OFFSCREEN);
static_assert(static_cast<int>(Hint::kCheckRange) == SACCADE_HINT_CHECK_RANGE);
static_assert(static_cast<int>(Hint::kCheckFilters) == SACCADE_HINT_CHECK_FILTERS);
static_assert(static_cast<int>(Hint::kAllowNetwork) == SACCADE_HINT_ALLOW_NETWORK);
static_assert(static_cast<int>(Hint::kCudaBackend) == SACCADE_HINT_CUDA_BACKEND);

// The only thing that outlives a call and belongs to no handle.
thread_local LastError last_error;

}  // namespace

saccade_status status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return SACCADE_ERROR_USAGE;
    case ErrorKind::kInput:
      return SACCADE_ERROR_INPUT;
    case ErrorKind::kUnavailable:
      return SACCADE_ERROR_UNAVAILABLE;
    case ErrorKind::kInterrupted:
      return SACCADE_ERROR_INTERRUPTED;
    case ErrorKind::kOutput:
      return SACCADE_ERROR_OUTPUT;
    case ErrorKind::kMemory:
      return SACCADE_ERROR_MEMORY;
  }
  return SACCADE_ERROR_INTERNAL;
}

saccade_status fail(saccade_status status, std::string_view message) noexcept {
  last_error.status = status;
  last_error.hint = Hint::kNone;
  last_error.option.clear();
  last_error.option_at = 0;
  try {
    last_error.message = message;
  } catch (const std::bad_alloc&) {
    last_error.message.clear();
  }
  return status;
}

saccade_status fail(const Fault& fault) noexcept {
  const saccade_status status = fail(status_of(fault.kind), fault.what);
  last_error.hint = fault.hint;
  try {
    if (fault.options.empty()) return status;
    last_error.option = fault.options.front().name;
    last_error.option_at = fault.options.front().at;
  } catch (const std::bad_alloc&) {
    last_error.option.clear();
  }
  return status;
}

saccade_status fail_with_exception() noexcept {
  try {
    try {
      throw;
    } catch (const DeviceError& error) {
      throw_fault(fault_of(error));
    }
  } catch (const Error& error) {
    return fail(error.fault());
  } catch (const CallerError& error) {
    return fail(error.status(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(SACCADE_ERROR_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return fail(SACCADE_ERROR_INTERNAL, error.what());
  } catch (...) {
    return fail(SACCADE_ERROR_INTERNAL, "unknown exception");
  }
}

void refuse(const char* function, const std::string& fault) {
  throw UsageError(fmt::format("{}: {}", function, fault));
}

}  // namespace saccade::capi

using saccade::capi::last_error;

saccade_status saccade_last_error_status(void) { return last_error.status; }
const char* saccade_last_error(void) { return last_error.message.c_str(); }
const char* saccade_last_error_hint(void) { return saccade::words(last_error.hint); }
saccade_hint saccade_last_error_hint_code(void) { return static_cast<saccade_hint>(last_error.hint); }
const char* saccade_last_error_option(size_t* at) {
  if (at != nullptr) *at = last_error.option_at;
  return last_error.option.c_str();
}

const char* saccade_status_name(saccade_status status) {
  switch (status) {
    case SACCADE_OK:
      return "ok";
    case SACCADE_LATER:
      return "later";
    case SACCADE_END:
      return "end";
    case SACCADE_ERROR_USAGE:
      return "usage";
    case SACCADE_ERROR_INPUT:
      return "input";
    case SACCADE_ERROR_UNAVAILABLE:
      return "unavailable";
    case SACCADE_ERROR_INTERRUPTED:
      return "interrupted";
    case SACCADE_ERROR_OUTPUT:
      return "output";
    case SACCADE_ERROR_MEMORY:
      return "memory";
    case SACCADE_ERROR_INTERNAL:
      return "internal";
  }
  return "?";
}
