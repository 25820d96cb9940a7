// What is known of one option: its name and words for help and manuals, the values it takes, how it is parsed and
// printed. A table of these is all that a command line, a settings file, a C caller or a manual needs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

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

// What of a session the option concerns.
enum class OptionScope : std::uint8_t {
  kDecoding,   // whatever decodes
  kStream,     // what is read, and the geometry that follows
  kRun,        // frames on their way through the pipeline
  kEmission,   // when patches are emitted, and as what
  kProfiling,  // how the stages run while they are measured
};

// In `help` and `more`, {name} stands for another option: with_names() spells it as the reader knows it.
struct OptionSpec {
  std::string_view name;  // words joined by '-'
  std::string_view group;
  std::string_view help;          // one line
  std::string_view more = {};     // what a manual adds
  std::string_view instead = {};  // not empty: it leaves with the next version, no manual has it, and this replaces it
  std::string_view metavar = {};
  ValueKind kind = ValueKind::kText;
  std::string default_text = {};  // canonical; empty: unset
  std::string choices = {};       // "a|b|c"
  double lo = 0, hi = 0;
  bool shapes_result = false;  // recorded with a result: another value may give other bytes
  bool repeats = false;        // may be given again: its texts, a line each
  bool tunable = false;        // Pipeline::configure() takes it while the stream runs
  OptionScope scope = OptionScope::kStream;
};

// parse: reads `text` into the options, or throws UsageError without the option's name, and changes nothing then.
// print: the canonical text, which parse reads back to the same value; nullopt: unset.
template <typename Options>
struct OptionBinding {
  void (*parse)(const OptionSpec& spec, Options& options, const std::string& text) = nullptr;
  std::optional<std::string> (*print)(const Options& options) = nullptr;
};

template <typename Options>
struct OptionRow {
  OptionSpec spec;
  OptionBinding<Options> binding;
};

inline constexpr std::string_view kSourceGroup = "Source", kPictureGroup = "Texture and damage",
                                  kFoveaGroup = "Fovea and patches", kScanpathGroup = "Scanpath", kRunGroup = "Run",
                                  kOutputGroup = "Output", kViewGroup = "View", kManyGroup = "Many videos";

inline bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Each {name} of a text as `prefix` and the name: "--" for a command line, nothing for other callers.
std::string with_names(std::string_view text, std::string_view prefix);

}  // namespace saccade
