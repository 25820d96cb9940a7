// Exit codes of the program (sysexits.h where it has one).
#pragma once

#include "pipeline/error.h"

namespace saccade {

enum class ExitCode : int {
  kOk = 0,
  kUnexpected = 1,  // also what can't be written or read back, and memory that is used up
  kUsage = 2,
  kPartial = 3,      // some inputs failed, or an input was damaged; profile --budget-ms: over the budget
  kInterrupted = 4,  // a valid partial result was written
  kBadInput = 65,
  kUnavailable = 69,  // device or display missing
};

// Of a run that ended by an error of this kind.
constexpr ExitCode exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return ExitCode::kUsage;
    case ErrorKind::kInput:
      return ExitCode::kBadInput;
    case ErrorKind::kUnavailable:
      return ExitCode::kUnavailable;
    case ErrorKind::kInterrupted:
      return ExitCode::kInterrupted;
    case ErrorKind::kOutput:
    case ErrorKind::kMemory:
      return ExitCode::kUnexpected;
  }
  return ExitCode::kUnexpected;
}

}  // namespace saccade
