#include "app/work/share.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "pipeline/error.h"

namespace saccade {
namespace {

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool good = error == std::errc{} && end == text.data() + text.size() && value >= 0;
  return good ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> from_environment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == 0) return std::nullopt;
  const auto value = whole(text);
  if (!value) throw UsageError(fmt::format("{}={}: is not a whole number; give --shard I/N", name, text));
  return value;
}

bool is_share(const Share& share) { return share.count >= 1 && share.index >= 0 && share.index < share.count; }

std::string no_share(const Share& share) {
  return fmt::format("there is no share {} of {}; shares count from 0", share.index, share.count);
}

Share checked(const Share& share, const char* variable) {
  if (!is_share(share)) throw UsageError(fmt::format("{}: {}", variable, no_share(share)));
  return share;
}

// An array of Slurm's may begin anywhere, and have a step: 10-40:10 are four tasks.
struct SlurmArray {
  std::int64_t task = 0;
  std::int64_t place = 0;             // of the task in the array
  std::optional<std::int64_t> tasks;  // none: Slurm doesn't say
};

// Of 3,7 no task can say which one of the two it is.
SlurmArray slurm_array(std::int64_t task) {
  const std::int64_t first = from_environment("SLURM_ARRAY_TASK_MIN").value_or(0);
  const std::int64_t step = std::max<std::int64_t>(from_environment("SLURM_ARRAY_TASK_STEP").value_or(1), 1);
  const auto last = from_environment("SLURM_ARRAY_TASK_MAX"), count = from_environment("SLURM_ARRAY_TASK_COUNT");
  const std::int64_t place = (task - first) / step;
  const bool whole = task >= first && (task - first) % step == 0;
  const bool counted = !count || (place < *count && (!last || (*last - first) / step + 1 == *count));
  if (whole && counted) return {task, place, count};
  throw UsageError(fmt::format(
      "SLURM_ARRAY_TASK_ID={}: the array from {}{} has gaps or other tasks, so that its shares are unknown; submit one "
      "without gaps, as --array=0-63, or give --shard {}/N",
      task, first, count ? fmt::format(" of {} tasks", *count) : "", task));
}

// A task that stands alone is most likely one of an earlier array that is tried again: its number is the share's, but
// nothing says of how many. So it is with a part of an array whose number of shares was given.
Share slurm_share(const SlurmArray& array, std::optional<std::int64_t> given) {
  if (given && given != array.tasks) return checked({array.task, *given}, "SLURM_ARRAY_TASK_ID");
  if (given) return checked({array.place, *given}, "SLURM_ARRAY_TASK_ID");
  if (!array.tasks) {
    throw UsageError("SLURM_ARRAY_TASK_ID is set, SLURM_ARRAY_TASK_COUNT is not; give --shard auto/N");
  }
  if (array.tasks == 1 && array.task != 0) {
    throw UsageError(
        fmt::format("SLURM_ARRAY_TASK_ID={0}: is the only task of its array, so that the number of shares is unknown; "
                    "give --shard {0}/N for one of N shares, or --shard 0/1 for all that is left",
                    array.task));
  }
  return checked({array.place, *array.tasks}, "SLURM_ARRAY_TASK_ID");
}

std::optional<Share> of_engine(std::optional<std::int64_t> count) {
  if (const auto task = from_environment("SLURM_ARRAY_TASK_ID")) return slurm_share(slurm_array(*task), count);
  if (const auto index = from_environment("JOB_COMPLETION_INDEX")) {
    if (count) return checked({*index, *count}, "JOB_COMPLETION_INDEX");
    throw UsageError(fmt::format(
        "JOB_COMPLETION_INDEX={0} is set, but not how many there are; give --shard auto/N for one of N shares, or "
        "--shard 0/1 for all that is left",
        *index));
  }
  return std::nullopt;
}

}  // namespace

Share share_of(const std::string& text) {
  if (text.empty()) return of_engine(std::nullopt).value_or(Share{});
  const std::size_t slash = text.find('/');
  const std::string first = text.substr(0, slash);
  std::optional<std::int64_t> count;
  if (slash != std::string::npos) count = whole(std::string_view(text).substr(slash + 1));
  const bool bad_count = slash != std::string::npos && !count;
  if (first == "auto" && !bad_count) {
    const auto share = of_engine(count);
    if (share) return *share;
    throw UsageError(OfOption("shard", text), "neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set; give I/N");
  }
  const auto index = whole(first);
  if (!index || !count) throw UsageError(OfOption("shard", text), "is not I/N, auto or auto/N, as 3/64");
  const Share share{*index, *count};
  if (!is_share(share)) throw UsageError(OfOption("shard", text), no_share(share));
  return share;
}

}  // namespace saccade
