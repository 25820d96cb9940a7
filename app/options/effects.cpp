#include "app/options/effects.h"

#include <filesystem>
#include <initializer_list>
#include <system_error>

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

bool is_one_of(const ProgramOption& option, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (option.spec().name == name) return true;
  }
  return false;
}

bool looks_at_the_picture(const Options& o) {
  const FixationPolicy policy = o.pipeline.scanpath.policy;
  return policy == FixationPolicy::kNovelty || policy == FixationPolicy::kSaliency;
}

// A dump is shown as it was recorded.
bool shows_dump(const Options& o) {
  std::error_code ignored;
  return !o.inputs.empty() && std::filesystem::exists(o.inputs.front() + "/meta.json", ignored);
}

// What the texture and its drawing still follow.
bool is_moot_for_dump(const ProgramOption& option) {
  return option.is_of_stream() && !is_one_of(option, {"backend", "device", "upload", "levels", "threshold",
                                                      "min-pixels", "loop", "live-policy"});
}

bool decodes_on_device(const Options& o) { return o.require_hwdec || (o.hwdec && *o.hwdec != HwDecode::kNo); }

bool has_texture_on_device(const Options& o) {
  if (o.command == Command::kInfo || o.command == Command::kReconstruct) return false;
  const BackendTraits* traits = traits_of(o.backend);
  if (traits == nullptr) return o.command != Command::kView;  // auto; of the viewer OpenGL's
  return traits->decoder != HwDecode::kNo;
}

// clang-format off
constexpr IdleRule kRules[] = {
  {kForView, [](const ProgramOption& option) { return is_one_of(option, {"vsync"}); },
   [](const Options& o) { return o.view.serve.has_value(); },
   "a page has no screen to wait for; leave it out"},
  {kForView, [](const ProgramOption& option) { return is_one_of(option, {"live-policy"}); },
   [](const Options& o) { return o.view.offscreen; },
   "{offscreen} takes every frame; leave it out"},
  {kForView, [](const ProgramOption& option) { return is_one_of(option, {"speed", "pause", "vsync"}); },
   [](const Options& o) { return o.view.offscreen && !o.view.overlay && !o.json; },
   "of {offscreen} only the panel and {json} tell it; leave it out"},
  {kForView, [](const ProgramOption& option) { return is_one_of(option, {"view"}); },
   [](const Options& o) { return o.view.compare && o.view.view != ui::View::kCompare; },
   "conflicts with {compare}, which is a view of its own; leave one out"},
  {kForView, is_moot_for_dump, shows_dump,
   "a dump is shown as it was recorded; leave it out, or give the video"},
  {kForView, [](const ProgramOption& option) { return is_one_of(option, {"view"}); },
   [](const Options& o) { return shows_dump(o) && ui::needs_video(o.view.view); },
   "of a dump there are frame, level:N and lod; give the video for the others"},
  {kForView, [](const ProgramOption& option) { return is_one_of(option, {"compare"}); }, shows_dump,
   "compares a video's patches; give the video"},
  {kForDump, [](const ProgramOption& option) { return is_one_of(option, {"unit-seconds", "unit-bytes", "segment", "shard"}); },
   [](const Options& o) { return o.plan.manifest.empty(); },
   "is about the videos of a manifest; add {manifest} FILE"},
  {kForInfo, [](const ProgramOption& option) { return option.is_of_stream() && !is_one_of(option, {"hwdec", "require-hwdec", "device"}); },
   [](const Options& o) { return o.inputs.empty(); },
   "says how an INPUT is read; add one"},
  {kForReconstruct, [](const ProgramOption& option) { return option.is_of_stream(); },
   [](const Options& o) { return o.reconstruct.against.empty(); },
   "says how a video is read; add {against} VIDEO"},
  {kForReconstruct, [](const ProgramOption& option) { return is_one_of(option, {"overwrite"}); },
   [](const Options& o) { return o.reconstruct.output.empty(); },
   "nothing is written; add {output} FILE"},
  {kForVideos, [](const ProgramOption& option) { return is_one_of(option, {"device"}); },
   [](const Options& o) { return o.pipeline.device != 0 && !decodes_on_device(o) && !has_texture_on_device(o); },
   "nothing here is on a CUDA device; leave it out"},
  {kForRuns, [](const ProgramOption& option) { return is_one_of(option, {"reconnect-delay-max"}); },
   [](const Options& o) { return o.source.live.reconnect == 0; },
   "nothing waits for a connection with {reconnect} 0"},
  // In the viewer another policy can be chosen at any time.
  {kForRuns & ~kForView, [](const ProgramOption& option) { return is_one_of(option, {"ignore", "noise-floor"}); },
   [](const Options& o) { return !looks_at_the_picture(o); },
   "only {fixation} novelty and saliency look at what moves"},
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
  }
}

}  // namespace saccade
