// Errors in the library's words: what kind, what happened, what would help. No command-line flag and no exit code: a
// program on top maps kinds to its exit codes and hints to its options (app/exit_code.h, app/options/hint_flags.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace saccade {

class DeviceError;

enum class ErrorKind : std::uint8_t {
  kUsage,        // a setting is wrong, or conflicts with another one
  kInput,        // the input can't be used, or was lost
  kUnavailable,  // a device, display or library is missing or has failed; the input may be whole
  kInterrupted,  // the caller asked to stop
  kOutput,       // a result can't be written
};
const char* name(ErrorKind kind);  // "usage", "input", "unavailable", "interrupted", "output"

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

// An error as a value: it crosses threads, and nothing of it is lost.
struct Fault {
  ErrorKind kind = ErrorKind::kInput;
  std::string what;  // one line without the hint: the input's name, what is wrong. Empty: nothing is
  Hint hint = Hint::kNone;
  std::string option = {};  // the option's name that `what` holds, which a caller spells as its people do; empty: none
  std::size_t option_at = 0;  // where it begins in `what`
};
// "what; words(hint)", for people.
std::string one_line(const Fault& fault);
// The same fault with "context: " before its words.
Fault in_context(const Fault& fault, const std::string& context);

// `text` without line ends and other control characters, which a file's name may hold: "a\\nb".
std::string printable(const std::string& text);

// The option that an error is about, and the part of its value that is wrong. The fault's words begin with it.
struct OfOption {
  explicit OfOption(std::string_view named, std::string_view its_value = {}) : name(named), value(its_value) {}
  std::string name;
  std::string value;  // empty: the name says it
};

// Thrown by set-up and by calls that can't go on. what() is Fault::what, printable.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& what, Hint hint = Hint::kNone)
      : std::runtime_error(printable(what)), kind_(kind), hint_(hint) {}
  // "NAME VALUE: fault" or "NAME: fault".
  Error(ErrorKind kind, const OfOption& option, const std::string& fault, Hint hint = Hint::kNone);
  explicit Error(const Fault& fault);
  ErrorKind kind() const { return kind_; }
  Hint hint() const { return hint_; }
  const std::string& option() const { return option_; }  // as Fault's
  Fault fault() const { return {kind_, what(), hint_, option_, option_at_}; }

 private:
  ErrorKind kind_;
  Hint hint_;
  std::string option_;
  std::size_t option_at_ = 0;
};

class InputError : public Error {
 public:
  explicit InputError(const Fault& fault) : Error(fault) {}
  InputError(const OfOption& option, const std::string& fault, Hint hint = Hint::kNone)
      : Error(ErrorKind::kInput, option, fault, hint) {}
  explicit InputError(const std::string& what, Hint hint = Hint::kNone) : Error(ErrorKind::kInput, what, hint) {}
};

class UsageError : public Error {
 public:
  explicit UsageError(const Fault& fault) : Error(fault) {}
  UsageError(const OfOption& option, const std::string& fault, Hint hint = Hint::kNone)
      : Error(ErrorKind::kUsage, option, fault, hint) {}
  explicit UsageError(const std::string& what, Hint hint = Hint::kNone) : Error(ErrorKind::kUsage, what, hint) {}
};

class UnavailableError : public Error {
 public:
  explicit UnavailableError(const Fault& fault) : Error(fault) {}
  UnavailableError(const OfOption& option, const std::string& fault, Hint hint = Hint::kNone)
      : Error(ErrorKind::kUnavailable, option, fault, hint) {}
  explicit UnavailableError(const std::string& what, Hint hint = Hint::kNone)
      : Error(ErrorKind::kUnavailable, what, hint) {}
};

// The fault as an exception of its kind's class, in that context unless it is empty.
[[noreturn]] void throw_fault(const Fault& fault, const std::string& context = "");

// A device's call that failed, as kUnavailable.
Fault fault_of(const DeviceError& error);

}  // namespace saccade
