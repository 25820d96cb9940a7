#include "app/work/judge/fault_class.h"

#include <algorithm>
#include <cerrno>

namespace saccade {
namespace {

// What an errno says of the input.
enum class Says : std::uint8_t {
  kPassing,      // of the network or a disk: another try may help
  kUnreachable,  // likewise, and nothing of its folder or server can be reached
  kOfMount,      // of a file kUnreachable, of a URL kPassing
  kMissing,      // it is not there, or may not be read
  kNothing,
};

Says said(int error) {
  switch (error) {
    case ECONNRESET:  // also of every connection that was lost
    case EPIPE:
    case EAGAIN:  // also of HTTP's 429 and 5xx
    case ETIME:   // nothing came in time
    case EMFILE:
    case ENFILE:
      return Says::kPassing;
    case ECONNREFUSED:
    case ETIMEDOUT:
    case ENETUNREACH:
    case ENETDOWN:
    case EHOSTUNREACH:
    case EHOSTDOWN:
    case ESTALE:
    case ENOTCONN:
    case ESHUTDOWN:
      return Says::kUnreachable;
    case EIO:
    case EREMOTEIO:
      return Says::kOfMount;
    case ENOENT:  // also of HTTP's 404
    case EACCES:  // also of HTTP's 401 and 403
    case EPERM:
    case ENOTDIR:
    case ELOOP:
    case ENODEV:
    case ENXIO:
    case ENOMEDIUM:
    case ENOKEY:       // a locked folder
    case EKEYEXPIRED:  // of Kerberos
    case EKEYREVOKED:
      return Says::kMissing;
    default:
      return Says::kNothing;
  }
}

bool is_url(std::string_view input) { return input.find("://") != input.npos && !input.starts_with("file:"); }

}  // namespace

bool is_io(const Fault& fault) {
  const Says says = said(fault.error);
  return says != Says::kMissing && says != Says::kNothing;
}

bool wants_memory(const Fault& fault) { return fault.kind == ErrorKind::kMemory || fault.error == ENOMEM; }

bool lacks_hwdec(const Fault& fault) {
  return fault.kind == ErrorKind::kUnavailable && fault.hint == Hint::kCpuDecoding && fault.error != ENOMEM;
}

const char* class_of(const Fault& fault) {
  if (fault.kind == ErrorKind::kUsage) return "options";
  if (fault.kind == ErrorKind::kMemory) return "unexpected";
  if (is_io(fault)) return "io";
  const bool of_gaze = std::any_of(fault.options.begin(), fault.options.end(), [](const NamedOption& option) {
    return option.name == "fixation" && !option.advised;
  });
  if (of_gaze || fault.hint == Hint::kCheckFilters) return "options";
  return fault.kind == ErrorKind::kInput && said(fault.error) == Says::kMissing ? kMissing : "input";
}

std::optional<bool> was_read(std::string_view kind, std::int64_t frames, int error, std::string_view input) {
  if (frames > 0) return true;
  if (kind == kMissing) return false;
  if (kind == "input" || kind == "changed" || kind == "options" || kind == kHwdecUnsupported) return true;
  if (kind != "io") return std::nullopt;
  const Says says = said(error);
  const bool unreachable = says == Says::kUnreachable || (says == Says::kOfMount && !is_url(input));
  return unreachable ? std::optional(false) : std::nullopt;
}

}  // namespace saccade
