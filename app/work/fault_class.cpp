#include "app/work/fault_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "pipeline/secrets.h"

namespace saccade {
namespace {

// strerror() and av_strerror(), in the C locale, in which the program runs.
constexpr std::array<std::string_view, 25> kWords = {
    "Input/output error",     "Connection refused", "Connection reset",     "Connection timed out",
    "Network is unreachable", "No route to host",   "Broken pipe",          "Server returned 5",
    "HTTP error 5",           "Stale file handle",  "Remote I/O error",     "Resource temporarily unavailable",
    "Operation timed out",    "Network is down",    "Host is down",         "nothing came for",
    "Too many open files",    "Transport endpoint", "no video came within", "Server returned 4XX",
    "HTTP error 429",         "Too Many Requests",  "lost connection: ",    "lost connection while",
    "may have been cut off",
};

std::string without_name(std::string what, std::string_view input) {
  for (const std::string& name : {std::string(input), masked_uri(std::string(input))}) {
    for (std::size_t at = name.empty() ? what.npos : what.find(name); at != what.npos; at = what.find(name, at))
      what.erase(at, name.size());
  }
  return what;
}

}  // namespace

bool is_io(const std::string& what, std::string_view input) {
  const std::string text = without_name(what, input);
  return std::any_of(kWords.begin(), kWords.end(),
                     [&text](std::string_view word) { return text.find(word) != std::string::npos; });
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
  return of_gaze || fault.hint == Hint::kCheckFilters ? "options" : "input";
}

}  // namespace saccade
