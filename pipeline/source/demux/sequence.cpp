#include "pipeline/source/demux/sequence.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <set>

#include "pipeline/error.h"

extern "C" {
#include <libavformat/avformat.h>
}

namespace saccade {
namespace {

namespace fs = std::filesystem;

// The name that a pattern gives to a number; empty where it can't be made.
std::string name_of(const std::string& pattern, std::int64_t number) {
  char name[4096] = {};
  const bool made = av_get_frame_filename2(name, sizeof name, pattern.c_str(), static_cast<int>(number), 0) >= 0;
  return made ? name : "";
}

// Every number for which the pattern names a file. Names are taken apart at each run of digits, and proven by making
// them again.
std::set<std::int64_t> numbers_of(const std::string& pattern) {
  std::set<std::int64_t> found;
  const std::string leaf = fs::path(pattern).filename().string();
  const std::string any = name_of(pattern, 0);
  if (any.empty()) return found;
  std::error_code error;
  for (fs::directory_iterator it(fs::path(any).parent_path(), error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    for (std::size_t at = 0; at < name.size(); ++at) {
      const bool starts = name[at] >= '0' && name[at] <= '9' && (at == 0 || name[at - 1] < '0' || name[at - 1] > '9');
      int number = 0;
      if (!starts || std::from_chars(name.data() + at, name.data() + name.size(), number).ec != std::errc{}) continue;
      if (name_of(leaf, number) == name) found.insert(number);
    }
  }
  return found;
}

std::int64_t count_matches(const std::string& pattern) {
  glob_t matches = {};
  const int code = glob(pattern.c_str(), GLOB_NOCHECK | GLOB_BRACE | GLOB_NOMAGIC, nullptr, &matches);
  std::int64_t count = 0;
  std::error_code ignored;
  for (std::size_t i = 0; code == 0 && i < matches.gl_pathc; ++i) count += fs::exists(matches.gl_pathv[i], ignored);
  globfree(&matches);
  return count;
}

}  // namespace

std::string ImageSequence::note() const {
  if (after_gap == 0) return "";
  return fmt::format("the sequence ends at a gap: no number {}; {} later picture{} left out", first + count, after_gap,
                     after_gap == 1 ? " is" : "s are");
}

bool has_frame_number(const std::string& path) { return av_filename_number_test(path.c_str()) != 0; }

bool has_wildcard(const std::string& path) { return path.find_first_of("*?[") != std::string::npos; }

std::optional<ImageSequence> find_sequence(const std::string& path) {
  ImageSequence sequence;
  sequence.pattern = path.starts_with("/") || path.starts_with("./") ? path : "./" + path;
  if (has_frame_number(path)) {
    const std::set<std::int64_t> numbers = numbers_of(sequence.pattern);
    if (numbers.empty()) {
      throw InputError(fmt::format("{}: no file has a name of this pattern; check the folder and the digits", path),
                       Hint::kNone, ENOENT);
    }
    sequence.first = *numbers.begin();
    while (numbers.contains(sequence.first + sequence.count)) ++sequence.count;
    sequence.after_gap = static_cast<std::int64_t>(numbers.size()) - sequence.count;
    return sequence;
  }
  if (!has_wildcard(path)) return std::nullopt;
  sequence.is_glob = true;
  sequence.count = count_matches(sequence.pattern);
  if (sequence.count == 0) {
    throw InputError(fmt::format("{}: no file matches; check the folder and the name", path), Hint::kNone, ENOENT);
  }
  return sequence;
}

}  // namespace saccade
