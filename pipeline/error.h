// Errors in the library's words: what kind, what happened, what would help. No command-line flag and no exit code: a
// program on top maps kinds to its exit codes (app/process/exit_code.h), and spells the options that hints name as its
// people do (app/options/hint_flags.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/enum_names.h"

namespace saccade {

class DeviceError;

enum class ErrorKind : std::uint8_t {
  kUsage,        // a setting is wrong, or conflicts with another one
  kInput,        // the input can't be used, or was lost
  kUnavailable,  // a device, display or library is missing or has failed; the input may be whole
  kInterrupted,  // the caller asked to stop
  kOutput,       // a result can't be written, or what was written before can't be read
  kMemory,       // the host's memory is used up; the input may be whole
};
inline constexpr EnumName<ErrorKind> kErrorKindNames[] = {{ErrorKind::kUsage, "usage"},
                                                          {ErrorKind::kInput, "input"},
                                                          {ErrorKind::kUnavailable, "unavailable"},
                                                          {ErrorKind::kInterrupted, "interrupted"},
                                                          {ErrorKind::kOutput, "output"},
                                                          {ErrorKind::kMemory, "memory"}};
constexpr std::span<const EnumName<ErrorKind>> names_of(ErrorKind) { return kErrorKindNames; }
// The machine failed, not the input, which says nothing about itself then.
constexpr bool is_of_machine(ErrorKind kind) { return kind == ErrorKind::kUnavailable || kind == ErrorKind::kMemory; }

// A setting that would help: one an error, the most likely. Advice that no setting follows (check the name, update the
// driver) is part of the fault's own words. The C interface has the same numbers (saccade_hint): add at the end.
enum class Hint : std::uint8_t {
  kNone,
  // The frame and its texture
  kSmallerFrame,
  kSmallerFrameOrCpu,  // the CPU's texture may be larger
  kLessMemory,         // a smaller frame or fewer levels
  kRaisePixelLimit,
  kFewerLevels,
  kMoreLevels,
  kFewerPatches,
  kMorePatches,
  // Backend and device
  kCpuBackend,
  kOtherBackend,  // the one that was asked for can't be used
  kGlBackend,     // OpenGL and CUDA are not on one device
  kDirectUpload,
  kCpuDecoding,
  kOffscreen,  // no window can be had
  // The input
  kCheckRange,  // start and duration
  kNoLoop,
  kRawParameters,      // raw video says nothing about itself
  kNoInputParameters,  // the input says that itself
  kCheckFilters,
  kNoFilters,
  kConvertFormat,
  kLongerTimeout,
  kAllowNetwork,
  kCudaBackend,  // memory of a CUDA device is at hand
};
// In the library's words: "use a smaller frame". Empty for kNone.
const char* words(Hint hint);

// An option's name inside a fault's words. A caller spells it as its people do.
struct NamedOption {
  std::string name;
  std::size_t at = 0;    // where it begins in the words
  bool advised = false;  // something to try; else an option in force
};

// An error as a value: it crosses threads, and nothing of it is lost.
struct Fault {
  ErrorKind kind = ErrorKind::kInput;
  std::string what;  // one line without the hint: the input's name, what is wrong. Empty: nothing is
  Hint hint = Hint::kNone;
  std::vector<NamedOption> options = {};  // those that `what` names, in its order; the first is the one at fault
  int error = 0;  // the errno of the call, the connection or the server that failed; 0: none is known
};
// "what; words(hint)", for people.
std::string one_line(const Fault& fault);
// The same fault with "context: " before its words.
Fault in_context(const Fault& fault, const std::string& context);
// The same fault with "OPTION " and `prefix` before its words, which begin with the option's value.
Fault of_option(const Fault& fault, std::string_view option, const std::string& prefix = "");

// `text` without line ends and other control characters, which a file's name may hold: "a\\nb".
std::string printable(const std::string& text);

// The option that an error is about, and the part of its value that is wrong. The fault's words begin with it.
struct OfOption {
  explicit OfOption(std::string_view named, std::string_view its_value = {}) : name(named), value(its_value) {}
  // Of an input: its name comes first.
  OfOption in(std::string_view uri) && { return input = uri, std::move(*this); }
  std::string name;
  std::string value;  // empty: the name says it
  std::string input = {};
};

// Thrown by set-up and by calls that can't go on. what() is Fault::what, printable.
class Error : public std::runtime_error {
 public:
  // error: as Fault::error.
  Error(ErrorKind kind, const std::string& what, Hint hint = Hint::kNone, int error = 0)
      : std::runtime_error(printable(what)), kind_(kind), hint_(hint), error_(error) {}
  // "NAME VALUE: fault" or "NAME: fault", after "INPUT: ".
  Error(ErrorKind kind, const OfOption& option, const std::string& fault, Hint hint = Hint::kNone, int error = 0);
  explicit Error(const Fault& fault);
  ErrorKind kind() const { return kind_; }
  Hint hint() const { return hint_; }
  std::string option() const { return options_.empty() ? "" : options_.front().name; }  // that is at fault; empty: none
  Fault fault() const { return {kind_, what(), hint_, options_, error_}; }

 private:
  ErrorKind kind_;
  Hint hint_;
  int error_;
  std::vector<NamedOption> options_;
};

// By its kind, to be caught by.
template <ErrorKind kKind>
class ErrorOf : public Error {
 public:
  explicit ErrorOf(const Fault& fault) : Error(fault) {}
  ErrorOf(const OfOption& option, const std::string& fault, Hint hint = Hint::kNone, int error = 0)
      : Error(kKind, option, fault, hint, error) {}
  explicit ErrorOf(const std::string& what, Hint hint = Hint::kNone, int error = 0) : Error(kKind, what, hint, error) {}
};
using InputError = ErrorOf<ErrorKind::kInput>;
using UsageError = ErrorOf<ErrorKind::kUsage>;
using UnavailableError = ErrorOf<ErrorKind::kUnavailable>;

// The fault as an exception of its kind's class, in that context unless it is empty.
[[noreturn]] void throw_fault(const Fault& fault, const std::string& context = "");

// A device's call that failed, as kUnavailable.
Fault fault_of(const DeviceError& error);

// Inside a catch block, of what was caught: an Error's own, a DeviceError's, std::bad_alloc as kMemory, and any other
// std::exception as `otherwise`, with the errno of a std::system_error. What is none goes on.
Fault caught_fault(ErrorKind otherwise);

}  // namespace saccade
