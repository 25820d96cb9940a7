// Every option of every command in one table: the command line, the TOML file, --print-config, --help and the record
// in meta.json are all read off it.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/options/options.h"

namespace saccade {

enum class ValueKind : std::uint8_t {
  kFlag,           // true or false
  kText,           // any non-empty text
  kChoice,         // one of `choices`
  kInteger,        // lo..hi
  kNumber,         // lo..hi
  kIntegers,       // 1,2,4: each lo..hi
  kWordOrInteger,  // one of `choices`, or lo..hi
};

inline constexpr unsigned kForDump = 1, kForProfile = 2, kForInfo = 4, kForReconstruct = 8, kForView = 16;
inline constexpr unsigned kForRuns = kForDump | kForProfile | kForView;
inline constexpr unsigned kForStreams = kForRuns | kForInfo;
inline constexpr unsigned kForAll = kForStreams | kForReconstruct;

struct OptionSpec {
  std::string_view name;  // without dashes; the TOML key
  std::string_view short_name = {};
  std::string_view metavar = {};
  std::string_view group;
  std::string_view help;
  ValueKind kind = ValueKind::kText;
  unsigned commands = kForAll;
  std::string_view default_text = {};  // empty: unset
  std::string_view choices = {};       // "a|b|c"
  double lo = 0, hi = 0;
  bool shapes_result = false;                                          // part of Options::in_force
  bool repeats = false;                                                // may be given again: its texts, a line each
  bool in_config = true;                                               // may stand in a TOML file
  void (*apply)(Options& options, const std::string& text) = nullptr;  // may throw UsageError without the option's name
};

// A value as the user gave it, and where: "--e0" or "saccade.toml:3: e0".
struct GivenValue {
  std::string text;
  std::string origin;
};
using GivenValues = std::map<std::string, GivenValue, std::less<>>;

std::span<const OptionSpec> option_table();
const OptionSpec* find_option(std::string_view name);  // null: none of that name
unsigned command_bit(Command command);
const char* name(Command command);

// The text in its one canonical spelling. Throws UsageError, without the option's name, when it is no such value.
std::string canonical_value(const OptionSpec& spec, const std::string& text);

// Known texts split at `separator`; empty pieces are kept.
std::vector<std::string> split(std::string_view text, char separator);

}  // namespace saccade
