#include "pipeline/options/idle.h"

#include <filesystem>
#include <system_error>

#include "pipeline/backend/backend.h"
#include "pipeline/options/option_error.h"
#include "pipeline/source/frame/input_name.h"

namespace saccade {
namespace {

bool looks_at_the_picture(const StreamOptions& options) {
  const FixationPolicy policy = options.pipeline.scanpath.policy;
  return policy == FixationPolicy::kNovelty || policy == FixationPolicy::kSaliency;
}

bool decodes_on_device(const StreamOptions& options) {
  return options.require_hwdec || (options.hwdec && *options.hwdec != HwDecode::kNo);
}

bool has_texture_on_device(const StreamOptions& options, StreamUse use) {
  if (use == StreamUse::kInspect) return false;
  const BackendTraits* traits = traits_of(options.backend);
  if (traits == nullptr) return use == StreamUse::kRun;  // auto; what is drawn is OpenGL's
  return traits->numbered;
}

// Throws for each option that is given, not its default, and idle for `why(spec)`.
template <typename Why>
void check(const StreamOptions& options, const GivenOptions& given, const Why& why) {
  static const StreamOptions fresh;
  for (const StreamOption& row : stream_options()) {
    if (given.find(row.spec.name) == given.end()) continue;
    const char* reason = why(row.spec);
    if (reason == nullptr || row.binding.print(options) == row.binding.print(fresh)) continue;
    throw OptionError::naming(row.spec.name, reason);
  }
}

}  // namespace

const char* why_idle(std::string_view option, const StreamOptions& options, StreamUse use) {
  if (option == "device" && options.pipeline.device != 0 && !decodes_on_device(options) &&
      !has_texture_on_device(options, use)) {
    return "nothing here is on a CUDA device; leave it out";
  }
  if (use == StreamUse::kInspect) return nullptr;
  if (option == "reconnect-delay-max" && options.source.live.reconnect == 0) {
    return "nothing waits for a connection with {reconnect} 0";
  }
  // Where the picture is watched another policy can be chosen at any time.
  const bool allocates = lattice_kind(options.pipeline.lattice) == LatticeKind::kAdaptive;
  if (use == StreamUse::kRun && option == "ignore" && allocates) return nullptr;
  if (use == StreamUse::kRun && is_one_of(option, {"ignore", "noise-floor"}) && !looks_at_the_picture(options)) {
    return "only {+fixation} novelty and saliency look at what moves";
  }
  return nullptr;
}

const char* why_idle_for(std::string_view option, const StreamOptions& options, const std::string& uri) {
  if (names_test(uri)) {
    const bool of_decoding = is_one_of(option, {"threads", "crop-tags"});
    const bool of_networks =
        is_one_of(option, {"rtsp-transport", "open-timeout", "stall-timeout", "reconnect", "reconnect-delay-max"});
    return of_decoding || of_networks ? "a test source is painted, not read or decoded; leave it out" : nullptr;
  }
  if (names_screen(uri) && is_one_of(option, {"threads", "crop-tags", "open-timeout", "stall-timeout"})) {
    return "a screen is not decoded, and stands still as long as it likes; leave it out";
  }
  if (option == "rtsp-transport" && !names_rtsp(uri)) {
    return "only rtsp:// inputs have a transport; leave it out";
  }
  std::error_code ignored;
  const bool reconnects = options.source.live.reconnect > 0;
  if (reconnects && is_one_of(option, {"reconnect", "reconnect-delay-max"}) &&
      std::filesystem::is_regular_file(uri, ignored)) {
    return "a file has no connection that could break; leave it out";
  }
  return nullptr;
}

const char* why_idle_for_frames(const OptionSpec& option) {
  return option.group == kSourceGroup
             ? "is about inputs that are opened, not about frames that are pushed; leave it out"
             : nullptr;
}

void check_given(const StreamOptions& options, const GivenOptions& given) {
  check(options, given, [&options](const OptionSpec& spec) -> const char* {
    if (spec.scope == OptionScope::kProfiling) return "nothing measures the stages here; leave it out";
    return why_idle(spec.name, options, StreamUse::kRun);
  });
}

void check_given_for(const StreamOptions& options, const GivenOptions& given, const std::string& uri) {
  check(options, given, [&](const OptionSpec& spec) { return why_idle_for(spec.name, options, uri); });
}

void check_given_for_frames(const StreamOptions& options, const GivenOptions& given) {
  check(options, given, why_idle_for_frames);
}

}  // namespace saccade
