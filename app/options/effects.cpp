#include "app/options/effects.h"

#include <filesystem>
#include <system_error>

#include "pipeline/options/idle.h"
#include "pipeline/options/option_error.h"

namespace saccade {
namespace {

// Of these commands, an option that `covers` does nothing when `is_idle`.
struct IdleRule {
  unsigned commands;
  bool (*covers)(const ProgramOption& option);
  bool (*is_idle)(const Options& options);
  const char* why;
};

// A dump is shown as it was recorded.
bool shows_dump(const Options& o) {
  std::error_code ignored;
  return !o.inputs.empty() && std::filesystem::exists(o.inputs.front() + "/meta.json", ignored);
}

// What the texture and its drawing still follow.
bool is_moot_for_dump(const ProgramOption& option) {
  if (option.spec().name == "views") return true;
  return option.is_of_stream() && !is_one_of(option.spec().name, {"backend", "device", "upload", "levels", "threshold",
                                                                  "min-samples", "loop", "live-policy"});
}

// What its videos are opened for, also by those who carry out a plan.
StreamUse use_of(Command command) {
  if (command == Command::kView) return StreamUse::kDraw;
  const bool inspects = command == Command::kInfo || command == Command::kReconstruct;
  return inspects ? StreamUse::kInspect : StreamUse::kRun;
}

// The videos that the command itself opens: of a plan they stand in the manifest.
std::vector<std::string> videos_of(const Options& o) {
  if (o.command == Command::kPlan) return {};
  if (o.command != Command::kReconstruct) return o.inputs;
  return o.reconstruct.against.empty() ? std::vector<std::string>{} : std::vector{o.reconstruct.against};
}

const char* why_idle_for_all(std::string_view option, const Options& options, const std::vector<std::string>& videos) {
  const char* why = nullptr;
  for (const std::string& video : videos) {
    why = why_idle_for(option, options, video);
    if (why == nullptr) return nullptr;
  }
  return why;
}

// Null: the option does something.
const char* why_stream_option_is_idle(std::string_view option, const Options& options) {
  if ((command_bit(options.command) & kForVideos) == 0) return nullptr;
  const char* why = why_idle(option, options, use_of(options.command));
  return why != nullptr ? why : why_idle_for_all(option, options, videos_of(options));
}

// clang-format off
constexpr IdleRule kRules[] = {
  {kForView, [](const ProgramOption& option) { return is_one_of(option.spec().name, {"vsync"}); },
   [](const Options& o) { return o.view.serve.has_value(); },
   "a page has no screen to wait for; leave it out"},
  {kForView, [](const ProgramOption& option) { return is_one_of(option.spec().name, {"live-policy"}); },
   [](const Options& o) { return o.view.offscreen; },
   "{offscreen} takes every frame; leave it out"},
  {kForView, [](const ProgramOption& option) { return is_one_of(option.spec().name, {"speed", "pause", "vsync"}); },
   [](const Options& o) { return o.view.offscreen && !o.view.overlay && !o.json; },
   "of {offscreen} only the panel and {+json} tell it; leave it out"},
  {kForView, is_moot_for_dump, shows_dump,
   "a dump is shown as it was recorded; leave it out, or give the video"},
  {kForView, [](const ProgramOption& option) { return is_one_of(option.spec().name, {"view"}); },
   [](const Options& o) { return shows_dump(o) && ui::needs_video(o.view.view); },
   "of a dump there are frame, level:N and lod; give the video for the others"},
  {kForView, [](const ProgramOption& option) { return is_one_of(option.spec().name, {"view"}); },
   [](const Options& o) { return !ui::has_view(o.view.view, o.pipeline, false); },
   "held, error and weights show the receiver of lattice adaptive; add {+lattice} adaptive"},
  {kForDump, [](const ProgramOption& option) { return is_one_of(option.spec().name, {"unit-seconds", "unit-bytes", "segment", "shard"}); },
   [](const Options& o) { return o.plan.manifest.empty(); },
   "is about the videos of a manifest; add {+manifest} FILE"},
  {kForInfo, [](const ProgramOption& option) { return option.is_of_stream() && !is_one_of(option.spec().name, {"hwdec", "require-hwdec", "device"}); },
   [](const Options& o) { return o.inputs.empty(); },
   "says how an INPUT is read; add one"},
  {kForReconstruct, [](const ProgramOption& option) { return option.is_of_stream(); },
   [](const Options& o) { return o.reconstruct.against.empty(); },
   "says how a video is read; add {+against} VIDEO"},
  {kForReconstruct, [](const ProgramOption& option) { return is_one_of(option.spec().name, {"overwrite"}); },
   [](const Options& o) { return o.dump.output.empty(); },
   "nothing is written; add {+output} FILE"},
};
// clang-format on

}  // namespace

void check_effects(const Options& options, const GivenValues& given) {
  for (const ProgramOption& option : option_table()) {
    const auto found = given.find(option.spec().name);
    if (found == given.end() || !found->second.typed || option.print(options) == option.print(Options{})) continue;
    for (const IdleRule& rule : kRules) {
      if ((rule.commands & command_bit(options.command)) == 0 || !rule.covers(option) || !rule.is_idle(options))
        continue;
      throw OptionError::naming(option.spec().name, rule.why);
    }
    if (!option.is_of_stream()) continue;
    const char* why = why_stream_option_is_idle(option.spec().name, options);
    if (why != nullptr) throw OptionError::naming(option.spec().name, why);
  }
}

}  // namespace saccade
