// Errors of setup. Each message names the input, what was wrong, and what to try, in one line.
#pragma once

#include <stdexcept>
#include <string>

namespace saccade {

// Exit codes of the program (sysexits.h where it has one).
enum class ExitCode : int {
  kOk = 0,
  kUnexpected = 1,
  kUsage = 2,
  kPartial = 3,      // some inputs failed, or an input was damaged; profile --check: over the budget
  kInterrupted = 4,  // a valid partial result was written
  kBadInput = 65,
  kUnavailable = 69,  // device or display missing
};

class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

class InputError : public Error {
 public:
  explicit InputError(const std::string& message) : Error(ExitCode::kBadInput, message) {}
};

class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(ExitCode::kUsage, message) {}
};

class UnavailableError : public Error {
 public:
  explicit UnavailableError(const std::string& message) : Error(ExitCode::kUnavailable, message) {}
};

}  // namespace saccade
