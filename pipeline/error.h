// Errors in the library's words: what kind, what happened, what would help. No command-line flag and no exit code: a
// program on top maps kinds to its exit codes and hints to its options (app/exit_code.h, app/options/hint_flags.h).
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

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
};
// "what; words(hint)", for people.
std::string one_line(const Fault& fault);

// `text` without line ends and other control characters, which a file's name may hold: "a\\nb".
std::string printable(const std::string& text);

// Thrown by set-up and by calls that can't go on. what() is Fault::what, printable.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& what, Hint hint = Hint::kNone)
      : std::runtime_error(printable(what)), kind_(kind), hint_(hint) {}
  explicit Error(const Fault& fault) : Error(fault.kind, fault.what, fault.hint) {}
  ErrorKind kind() const { return kind_; }
  Hint hint() const { return hint_; }
  Fault fault() const { return {kind_, what(), hint_}; }

 private:
  ErrorKind kind_;
  Hint hint_;
};

class InputError : public Error {
 public:
  explicit InputError(const std::string& what, Hint hint = Hint::kNone) : Error(ErrorKind::kInput, what, hint) {}
};

class UsageError : public Error {
 public:
  explicit UsageError(const std::string& what, Hint hint = Hint::kNone) : Error(ErrorKind::kUsage, what, hint) {}
};

class UnavailableError : public Error {
 public:
  explicit UnavailableError(const std::string& what, Hint hint = Hint::kNone)
      : Error(ErrorKind::kUnavailable, what, hint) {}
};

// The fault as an exception of its kind's class, "context: " before it unless `context` is empty.
[[noreturn]] void throw_fault(const Fault& fault, const std::string& context = "");

// A device's call that failed, as kUnavailable.
Fault fault_of(const DeviceError& error);

}  // namespace saccade
