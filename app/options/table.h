// Every option of every command in one table: the command line, the TOML file, --print-config, --help, docs/OPTIONS.md
// and the record in meta.json are all read off it. Options of a stream come from pipeline/options; the program's own
// stand here.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/options/options.h"

namespace saccade {

inline constexpr unsigned kForDump = 1, kForProfile = 2, kForInfo = 4, kForReconstruct = 8, kForView = 16,
                          kForPlan = 32, kForWork = 64, kForStatus = 128, kForVerify = 256, kForGc = 512,
                          kForRetry = 1024, kForWorker = 2048;
inline constexpr unsigned kForRuns = kForDump | kForProfile | kForView | kForPlan;
inline constexpr unsigned kForStreams = kForRuns | kForInfo;
inline constexpr unsigned kForVideos = kForStreams | kForReconstruct;
inline constexpr unsigned kForStores = kForWork | kForStatus | kForVerify | kForGc | kForRetry;
inline constexpr unsigned kForAll = kForVideos | kForStores | kForWorker;

inline constexpr std::string_view kPublicCommands =
    "view|dump|profile|info|reconstruct|plan|work|status|verify|gc|retry";

// How the program takes an option.
struct OptionPlace {
  unsigned commands = kForAll;
  std::string_view short_name = {};
  bool repeats = false;        // may be given again: its texts, a line each
  bool in_config = true;       // may stand in a TOML file
  std::string_view bare = {};  // what it means without a value; empty: it needs one
};

// One row. Points into tables that live as long as the program.
class ProgramOption {
 public:
  ProgramOption(const StreamOption& row, OptionPlace place) : spec_(&row.spec), stream_(&row), place_(place) {}
  ProgramOption(const OptionRow<Options>& row, OptionPlace place) : spec_(&row.spec), own_(&row), place_(place) {}

  const OptionSpec& spec() const { return *spec_; }
  const OptionPlace& place() const { return place_; }
  bool is_of(Command command) const;
  bool is_of_stream() const { return stream_ != nullptr; }  // else the program's own
  bool is_flag() const;                                     // given without a value on the command line
  bool is_setting() const;  // has no option of its own on the command line: --set NAME=VALUE, or a line of a file
  // Throws UsageError without the option's name.
  void parse(Options& options, const std::string& text) const;
  // What parse() reads back to the same value; nullopt: unset.
  std::optional<std::string> print(const Options& options) const;

 private:
  const OptionSpec* spec_;
  const StreamOption* stream_ = nullptr;
  const OptionRow<Options>* own_ = nullptr;
  OptionPlace place_;
};

// A value as the user gave it, and where.
struct GivenValue {
  std::string text;
  bool typed = false;  // on the command line
  std::string origin;  // of what was not: "saccade.toml:3: e0"
};
using GivenValues = std::map<std::string, GivenValue, std::less<>>;

std::span<const ProgramOption> option_table();
const ProgramOption* find_option(std::string_view name);  // null: none of that name
unsigned command_bit(Command command);

// What to write in place of a name that no option has: what replaced an option that is gone, or the nearest name among
// the options of `commands`. `prefix`: "--", or nothing in a file. Empty: nothing comes near.
std::string advice_on(std::string_view unknown, unsigned commands, std::string_view prefix);

}  // namespace saccade
