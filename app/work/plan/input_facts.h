// What an input was when it was planned, so that one that has changed since is told from it.
#pragma once

#include <optional>
#include <string>

#include "app/work/plan/item.h"

namespace saccade {

// The class of a video whose input has changed since the plan.
inline constexpr const char* kChanged = "changed";

// A file's {"bytes", "mtime_ns"}. Of any other uri {"etag", "bytes"}, where the manifest has a column "etag", as those
// of `python -m pysaccade.work list` have. Null: not known.
Json input_facts(const std::string& uri, const Json& extra);

struct InputChange {
  std::string line;
  bool of_size = false;  // else the file was written to and is as long as before: its bytes may be the same
};
// Of an item's file, as it is now. None: it is as planned, or that isn't known, as of what is no file here.
std::optional<InputChange> input_change(const WorkItem& item);

// The same of an object that was fetched: a line, or empty. etag: empty where the bucket has none.
std::string object_change(const WorkItem& item, std::uint64_t bytes, const std::string& etag);

}  // namespace saccade
