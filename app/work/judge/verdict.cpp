#include "app/work/judge/verdict.h"

namespace saccade {

Verdict judge(const Signs& signs, Past& past) {
  switch (signs.end) {
    case AttemptEnd::kDone:
      return Verdict::kDone;
    case AttemptEnd::kFailed:
      if (signs.again && ++past.failures < kMostFailures) return Verdict::kLater;
      return signs.read == false && !past.settled ? Verdict::kHold : Verdict::kQuarantine;
    case AttemptEnd::kKilled:
      return !past.alone || ++past.kills < kMostKills ? Verdict::kAlone : Verdict::kQuarantine;
    case AttemptEnd::kCrashed:
    case AttemptEnd::kHung:
      return past.alone ? Verdict::kQuarantine : Verdict::kAlone;
  }
  return Verdict::kQuarantine;
}

}  // namespace saccade
