// What becomes of a video whose attempt has ended. Pure.
#pragma once

#include <cstdint>
#include <optional>

namespace saccade {

// How an attempt at a video ended.
enum class AttemptEnd : std::uint8_t {
  kDone,
  kFailed,  // its worker reports why
  kCrashed,
  kKilled,  // the worker got SIGKILL, SIGTERM, SIGINT or SIGHUP: of a person, or for want of memory
  kHung,
};
struct Signs {
  AttemptEnd end = AttemptEnd::kDone;
  bool again = false;        // of kFailed: another try may go well
  std::optional<bool> read;  // of kFailed: whether anything of the input could be read; none: not known
};

// What is known of the video from before.
struct Past {
  int failures = 0;      // that another try might have mended
  int kills = 0;         // while it ran alone
  bool alone = false;    // no other video ran beside it in its worker
  bool settled = false;  // its folder was read since it was held, or the caller says that it is gone
};

enum class Verdict : std::uint8_t {
  kDone,
  kQuarantine,
  kLater,  // try it again, after a pause
  kAlone,  // it is a suspect: try it again, alone
  kHold,   // its folder may be what is missing: wait until another input of it was read
};

inline constexpr int kMostFailures = 3;
inline constexpr int kMostKills = 3;

// Counts what the end adds to the past.
Verdict judge(const Signs& signs, Past& past);

}  // namespace saccade
