#include "app/work/judge/fault_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "pipeline/secrets.h"

namespace saccade {
namespace {

// What the words of a fault say of the input. Words of strerror() and av_strerror() in the C locale, in which the
// program runs, and our own.
enum class Says : std::uint8_t {
  kPassing,      // of the network or a disk: another try may help
  kUnreachable,  // likewise, and nothing of its folder or server can be reached
  kOfMount,      // of a file kUnreachable, of a URL kPassing
  kMissing,      // it is not there, or may not be read
};
struct Phrase {
  std::string_view words;
  Says says;
};
constexpr Phrase kPhrases[] = {
    {"Input/output error", Says::kOfMount},
    {"Connection refused", Says::kUnreachable},
    {"Connection reset", Says::kPassing},
    {"Connection timed out", Says::kUnreachable},
    {"Network is unreachable", Says::kUnreachable},
    {"No route to host", Says::kUnreachable},
    {"Broken pipe", Says::kPassing},
    {"Server returned 5", Says::kPassing},
    {"HTTP error 5", Says::kPassing},
    {"Stale file handle", Says::kUnreachable},
    {"Remote I/O error", Says::kOfMount},
    {"Resource temporarily unavailable", Says::kPassing},
    {"Operation timed out", Says::kPassing},
    {"Network is down", Says::kUnreachable},
    {"Host is down", Says::kUnreachable},
    {"nothing came for", Says::kPassing},
    {"Too many open files", Says::kPassing},
    {"Transport endpoint", Says::kUnreachable},
    {"no video came within", Says::kPassing},
    {"Server returned 4XX", Says::kPassing},
    {"HTTP error 429", Says::kPassing},
    {"Too Many Requests", Says::kPassing},
    {"lost connection: ", Says::kPassing},
    {"lost connection while", Says::kPassing},
    {"may have been cut off", Says::kPassing},
    {"No such file or directory", Says::kMissing},
    {"Permission denied", Says::kMissing},
    {"Operation not permitted", Says::kMissing},
    {"Not a directory", Says::kMissing},
    {"Too many levels of symbolic links", Says::kMissing},
    {"No such device", Says::kMissing},
    {"No medium found", Says::kMissing},
    {"Required key not available", Says::kMissing},  // a locked folder
    {"Key has expired", Says::kMissing},             // of Kerberos
    {"Key has been revoked", Says::kMissing},
    {"no file matches", Says::kMissing},
    {"no file has a name of this pattern", Says::kMissing},
    {"Server returned 401", Says::kMissing},
    {"Server returned 403", Says::kMissing},
    {"Server returned 404", Says::kMissing},
};

std::string without_name(std::string what, std::string_view input) {
  for (const std::string& name : {std::string(input), masked_uri(std::string(input))}) {
    for (std::size_t at = name.empty() ? what.npos : what.find(name); at != what.npos; at = what.find(name, at))
      what.erase(at, name.size());
  }
  return what;
}

// Of several the first one of the table.
std::optional<Says> said(const std::string& what, std::string_view input) {
  const std::string text = without_name(what, input);
  for (const Phrase& phrase : kPhrases) {
    if (text.find(phrase.words) != std::string::npos) return phrase.says;
  }
  return std::nullopt;
}

bool is_url(std::string_view input) { return input.find("://") != input.npos && !input.starts_with("file:"); }

}  // namespace

bool is_io(const std::string& what, std::string_view input) {
  const auto says = said(what, input);
  return says && *says != Says::kMissing;
}

bool wants_memory(const Fault& fault) {
  return fault.kind == ErrorKind::kMemory || fault.what.find("Cannot allocate memory") != std::string::npos;
}

bool lacks_hwdec(const Fault& fault) {
  if (fault.kind != ErrorKind::kUnavailable || fault.hint != Hint::kCpuDecoding) return false;
  std::string what = fault.what;
  std::transform(what.begin(), what.end(), what.begin(),
                 [](unsigned char letter) { return letter == '_' ? ' ' : static_cast<char>(std::tolower(letter)); });
  return what.find("out of memory") == std::string::npos && what.find("cannot allocate memory") == std::string::npos;
}

const char* class_of(const Fault& fault, std::string_view input, std::string_view gaze) {
  if (fault.kind == ErrorKind::kUsage) return "options";
  if (fault.kind == ErrorKind::kMemory) return "unexpected";
  if (is_io(fault.what, input)) return "io";
  const bool of_gaze =
      !gaze.empty() && without_name(fault.what, input).find(fmt::format("{}: ", gaze)) != std::string::npos;
  if (of_gaze || fault.hint == Hint::kCheckFilters) return "options";
  return fault.kind == ErrorKind::kInput && said(fault.what, input) == Says::kMissing ? kMissing : "input";
}

std::optional<bool> was_read(std::string_view kind, std::int64_t frames, const std::string& what,
                             std::string_view input) {
  if (frames > 0) return true;
  if (kind == kMissing) return false;
  if (kind == "input" || kind == "changed" || kind == "options" || kind == kHwdecUnsupported) return true;
  if (kind != "io") return std::nullopt;
  const auto says = said(what, input);
  const bool unreachable = says == Says::kUnreachable || (says == Says::kOfMount && !is_url(input));
  return unreachable ? std::optional(false) : std::nullopt;
}

}  // namespace saccade
