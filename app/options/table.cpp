#include "app/options/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "app/options/own_rows.h"

namespace saccade {
namespace {

// What few change, and what belongs to a window, a connection or a cluster.
constexpr std::string_view kSettings[] = {
    // of streams
    "input-size", "input-rate", "pixel-format", "crop-tags", "max-pixels", "require-hwdec", "open-timeout",
    "stall-timeout", "reconnect-delay-max", "upload", "noise-floor", "lod", "eye", "staged",
    // of many videos
    "unit-bytes", "shard", "claim-seconds", "engine", "workers-per-gpu", "video-timeout", "frame-timeout",
    "renew-after", "max-rss", "metrics",
    // of the viewer
    "ui-scale", "speed", "pause", "vsync", "serve-origin"};

unsigned commands_for(OptionScope scope) {
  switch (scope) {
    case OptionScope::kDecoding:
      return kForVideos;
    case OptionScope::kStream:
      return kForStreams;
    case OptionScope::kRun:
      return kForRuns;
    case OptionScope::kEmission:
      return kForDump | kForProfile | kForPlan;
    case OptionScope::kProfiling:
      return kForProfile;
  }
  return 0;
}

// Of a plan, each row of the manifest says these itself.
constexpr std::string_view kOfRows[] = {"start", "duration", "stream", "loop"};
// `info` reads one frame.
constexpr std::string_view kOfMoreFrames[] = {"duration", "frames", "loop"};

unsigned commands_for(const OptionSpec& spec) {
  const auto is_of = [&spec](std::span<const std::string_view> names) {
    return std::find(names.begin(), names.end(), spec.name) != names.end();
  };
  return commands_for(spec.scope) & ~(is_of(kOfRows) ? kForPlan : 0U) & ~(is_of(kOfMoreFrames) ? kForInfo : 0U);
}

std::vector<ProgramOption> make_table() {
  static const std::vector<OwnRow> results = result_rows();
  static const std::vector<OwnRow> rest = command_rows();
  std::vector<ProgramOption> table;
  for (const OwnRow& own : results) table.emplace_back(own.row, own.place);
  for (const StreamOption& row : stream_options()) {
    table.emplace_back(row, OptionPlace{.commands = commands_for(row.spec), .repeats = row.spec.repeats});
  }
  for (const OwnRow& own : rest) table.emplace_back(own.row, own.place);
  return table;
}

}  // namespace

bool ProgramOption::is_of(Command command) const { return (place_.commands & command_bit(command)) != 0; }

bool ProgramOption::is_flag() const { return spec_->kind == ValueKind::kFlag || spec_->choices == "true|false"; }

bool ProgramOption::is_setting() const {
  return std::find(std::begin(kSettings), std::end(kSettings), spec_->name) != std::end(kSettings);
}

void ProgramOption::parse(Options& options, const std::string& text) const {
  if (stream_ != nullptr) return stream_->binding.parse(*spec_, options, text);
  if (own_->binding.parse != nullptr) own_->binding.parse(*spec_, options, text);
}

std::optional<std::string> ProgramOption::print(const Options& options) const {
  if (stream_ != nullptr) return stream_->binding.print(options);
  return own_->binding.print != nullptr ? own_->binding.print(options) : std::nullopt;
}

std::span<const ProgramOption> option_table() {
  static const std::vector<ProgramOption> table = make_table();
  return table;
}

const ProgramOption* find_option(std::string_view name) {
  for (const ProgramOption& option : option_table()) {
    if (option.spec().name == name) return &option;
  }
  return nullptr;
}

unsigned command_bit(Command command) { return 1U << static_cast<unsigned>(command); }

// What became of the program's own options that are gone.
constexpr std::pair<std::string_view, std::string_view> kFormer[] = {
    {"overlay", "the panel is part of {show}: panel,marks or none"},
    {"compare", "write {view} compare:LATTICE"},
    {"check", "{budget-ms} alone checks the budget"},
    {"serve-token-file", "set the variable SACCADE_TOKEN: SACCADE_TOKEN=$(head -n1 FILE)"},
};

std::string advice_on(std::string_view unknown, unsigned commands, std::string_view prefix) {
  if (const std::string_view now = renamed_option(unknown); !now.empty())
    return fmt::format("it is called {}{} now", prefix, now);
  for (const auto& [name, advice] : kFormer) {
    if (name == unknown) return with_names(advice, prefix);
  }
  std::vector<std::string_view> names;
  for (const ProgramOption& option : option_table()) {
    if ((option.place().commands & commands) != 0 && option.spec().instead.empty()) names.push_back(option.spec().name);
  }
  const std::string_view near = nearest_name(unknown, names);
  if (near.empty()) return {};
  return fmt::format("did you mean {}{}?", !prefix.empty() && find_option(near)->is_setting() ? "--set " : prefix,
                     near);
}

}  // namespace saccade
