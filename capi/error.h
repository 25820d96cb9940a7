// Exceptions become statuses here: none crosses the C interface.
#pragma once

#include <saccade/saccade.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "pipeline/error.h"

namespace saccade::capi {

saccade_status status_of(ErrorKind kind);

// Records the thread's last error and returns `status`. Never throws: without memory the message is lost.
saccade_status fail(saccade_status status, std::string_view message) noexcept;
saccade_status fail(const Fault& fault) noexcept;

// A status that the caller's own function has returned.
class CallerError : public std::runtime_error {
 public:
  CallerError(saccade_status status, const std::string& what) : std::runtime_error(what), status_(status) {}
  saccade_status status() const { return status_; }

 private:
  saccade_status status_;
};

// Inside a catch block: the exception in flight, recorded.
saccade_status fail_with_exception() noexcept;

// Throws UsageError("FUNCTION: FAULT"): an argument of a call is wrong.
[[noreturn]] void refuse(const char* function, const std::string& fault);
inline void require(bool condition, const char* function, const char* fault) {
  if (!condition) refuse(function, fault);
}

// Runs the body of a call of the C interface, which returns a status or throws.
template <typename Body>
saccade_status guarded(Body&& body) noexcept {
  try {
    return std::forward<Body>(body)();
  } catch (...) {
    return fail_with_exception();
  }
}

}  // namespace saccade::capi
