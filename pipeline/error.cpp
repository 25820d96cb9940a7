#include "pipeline/error.h"

namespace saccade {

const char* name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return "usage";
    case ErrorKind::kInput:
      return "input";
    case ErrorKind::kUnavailable:
      return "unavailable";
    case ErrorKind::kInterrupted:
      return "interrupted";
    case ErrorKind::kOutput:
      return "output";
  }
  return "?";
}

const char* words(Hint hint) {
  switch (hint) {
    case Hint::kNone:
      return "";
  }
  return "";
}

}  // namespace saccade
