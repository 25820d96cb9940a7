// All that a stream or a session can be asked for, under names: set_option() fills it, resolve() makes it ready.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "pipeline/options/lattice_options.h"
#include "pipeline/options/option.h"
#include "pipeline/run/frame_queue.h"
#include "pipeline/run/pipeline.h"
#include "pipeline/source/frame/frame_source.h"

namespace saccade {

// A plain value: copy it, keep it, use it for many streams. resolve() fills pipeline.lattice, pipeline.backend and
// source.hwdec from what was asked.
struct StreamOptions {
  SourceConfig source;  // uri: the caller's to fill
  PipelineConfig pipeline;
  LatticeOptions lattice;
  bool threshold_given = false;             // else a live source has one of its own: SessionConfig
  std::optional<QueuePolicy> queue_policy;  // none: the newest frame of a live source, every frame of anything else
  std::string backend{kAutoBackend};        // auto, or a backend's name
  std::string backend_reason;               // resolve(): why auto chose so; empty unless auto was asked
  std::optional<HwDecode> hwdec;            // none: on the device that also holds the texture
  bool require_hwdec = false;
  bool gaze_is_stored = false;  // gaze and gaze-units come from a settings file, which holds them beside any fixation
  // Two words for one value keep apart: a record of the options says the one that was used.
  bool every_as_number = false;  // "1", not "frame"
  bool loop_as_number = false;   // "0", not "false"
};

using StreamOption = OptionRow<StreamOptions>;

// In the order of the manual: groups stand together. Any thread.
std::span<const StreamOption> stream_options();
const StreamOption* find_stream_option(std::string_view name);  // null: none of that name
// Today's name of a renamed option, which older plans still hold under its old one.
// Empty: `name` is not an old name.
std::string_view renamed_option(std::string_view name);
// The name that an option of this recorded name has now.
std::string_view current_option(std::string_view recorded);

// Reads `text` into the option of that name. Throws OptionError for a value that it can't have, and UsageError, with
// the nearest name, for a name that is none; `options` is then as before. Conflicts are resolve()'s to find.
void set_option(StreamOptions& options, std::string_view name, const std::string& text);

// The text that set_option() reads back to the same value; nullopt: unset. Throws UsageError for an unknown name.
std::optional<std::string> get_option(const StreamOptions& options, std::string_view name);

// `eye` where it is not set: 1 where a recorded gaze leads (docs/ACCURACY.md), else 0.
double default_eye(FixationPolicy policy);

// The options that run this pipeline, as far as it can be tuned (OptionSpec::tunable).
StreamOptions options_of(const PipelineConfig& config);

// Of `names`, the nearest to a misspelt one; empty: none is near.
std::string_view nearest_name(std::string_view misspelt, std::span<const std::string_view> names);

}  // namespace saccade
