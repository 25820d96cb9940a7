// Errors in the library's words: what kind, what happened, what would help. No command-line flag and no exit code: a
// program on top maps kinds to its exit codes and hints to its options (app/exit_code.h, app/options/hint_flags.h).
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace saccade {

enum class ErrorKind : std::uint8_t {
  kUsage,        // a setting is wrong, or conflicts with another one
  kInput,        // the input can't be used, or broke off
  kUnavailable,  // a device, display or library is missing or has failed; the input may be whole
  kInterrupted,  // the caller asked to stop
  kOutput,       // a result can't be written
};
const char* name(ErrorKind kind);  // "usage", "input", "unavailable", "interrupted", "output"

// What to try. One hint an error: the remedy most likely to help.
enum class Hint : std::uint8_t {
  kNone,
};
// In the library's words: "use a smaller frame". Empty for kNone.
const char* words(Hint hint);

// Thrown by set-up and by calls that can't go on. what() is one line without the hint: the input's name, the fault.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& what, Hint hint = Hint::kNone)
      : std::runtime_error(what), kind_(kind), hint_(hint) {}
  ErrorKind kind() const { return kind_; }
  Hint hint() const { return hint_; }

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

}  // namespace saccade
