#include "app/options/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "app/files/input_identity.h"
#include "pipeline/error.h"
#include "pipeline/options/option_error.h"
#include "pipeline/secrets.h"

namespace saccade {
namespace {

bool needs_output(const Options& options) {
  if (options.command == Command::kReconstruct) return options.reconstruct.against.empty();
  if (options.command == Command::kRetry) return !options.work.in_place;
  return options.command == Command::kDump || options.command == Command::kPlan;
}

const char* example_output(Command command) {
  switch (command) {
    case Command::kDump:
      return "DIR";
    case Command::kReconstruct:
      return "out.mp4, -o out.html, -o out.png or --against VIDEO";
    default:
      return "STORE";
  }
}

bool reads_store(Command command) { return (command_bit(command) & kForStores) != 0; }

void check_manifest(const Options& options) {
  if (options.plan.manifest.empty()) return;
  if (!options.inputs.empty()) {
    throw UsageError(
        OfOption("manifest", options.plan.manifest),
        fmt::format("conflicts with the INPUT '{}': the manifest names the inputs", masked_uri(options.inputs[0])));
  }
  for (const char* of_rows : {"start", "duration", "stream", "loop"}) {
    if (get_option(options, of_rows) != get_option(StreamOptions{}, of_rows))
      throw OptionError::naming(of_rows, "conflicts with {manifest}: its rows say which part of a video");
  }
  if (options.dump.compact.value_or(false)) {
    throw OptionError::naming("compact", "conflicts with {manifest}: a store's shards hold arrays of one shape");
  }
  if (options.views) throw OptionError::naming("views", "conflicts with {manifest}: a store's shards hold no pictures");
  if (options.dump.overwrite || options.dump.resume) {
    throw OptionError::naming(options.dump.overwrite ? "overwrite" : "resume",
                              "conflicts with {manifest}: a store goes on by itself where it was left");
  }
}

}  // namespace

void check_conflicts(const Options& options) {
  if (options.dump.overwrite && options.dump.resume) {
    throw OptionError::naming("overwrite",
                              "conflicts with {resume}: one replaces the dump, the other keeps it; leave one out");
  }
  if (options.view.serve && options.view.offscreen) {
    throw OptionError::naming("serve", "conflicts with {offscreen}: one serves a page, the other writes pictures");
  }
  if (!options.view.serve && !options.view.serve_origins.empty())
    throw OptionError::naming("serve-origin", "needs {+serve}");
  if (options.view.offscreen && options.view.screenshots.empty()) {
    throw OptionError::naming("offscreen", "nothing is shown without a window; add {+screenshot} T=FILE.png");
  }
  if (!options.view.offscreen && !options.view.screenshots.empty()) {
    throw OptionError::naming("screenshot", "needs {+offscreen}; in the window, s saves a picture");
  }
}

// What is written must not be what is read.
void refuse_input_as_output(const char* option, const std::string& output, const std::string& input) {
  const std::string path = regular_file(input);
  std::error_code ignored;
  if (path.empty() || output.empty() || !std::filesystem::equivalent(path, output, ignored)) return;
  throw UsageError(OfOption(option, output), "is the input itself; give another name");
}

// `--loop 3` would be a second input, and the first one for ever.
void refuse_number_after_loop(const Options& options, const std::string& input) {
  const bool number = std::all_of(input.begin(), input.end(), [](char c) { return c >= '0' && c <= '9'; });
  std::error_code ignored;
  if (options.source.loops >= 0 || !number || std::filesystem::exists(input, ignored)) return;
  throw OptionError::naming("loop",
                            fmt::format("there is no file '{0}'; for {0} more times write {{+loop}}={0}", input));
}

void check_inputs(Options& options) {
  const std::string command = name(options.command);
  const std::size_t count = options.inputs.size();
  check_manifest(options);
  const bool needs_none =
      options.command == Command::kInfo || options.command == Command::kWorker || !options.plan.manifest.empty();
  if (count == 0 && !needs_none) {
    const char* what = options.command == Command::kPlan ? "MANIFEST"
                       : reads_store(options.command)    ? "STORE"
                                                         : "INPUT";
    throw UsageError(fmt::format("{}: no {} was given; `saccade {} --help` shows how", command, what, command));
  }
  for (const auto& input : options.inputs) {
    if (input.empty()) throw UsageError(fmt::format("{}: an INPUT is an empty name", command));
    refuse_number_after_loop(options, input);
  }
  const bool takes_one = options.command == Command::kProfile || options.command == Command::kReconstruct ||
                         options.command == Command::kView || options.command == Command::kPlan ||
                         reads_store(options.command);
  if (count > 1 && options.command == Command::kPlan) {
    throw UsageError(fmt::format("{}: takes one MANIFEST, but got {} names; write them into one: ls ... > list.txt",
                                 command, count));
  }
  if (count > 1 && takes_one) {
    throw UsageError(fmt::format("{}: takes one INPUT, but got {}: '{}', '{}'", command, count,
                                 masked_uri(options.inputs[0]), masked_uri(options.inputs[1])));
  }
  const std::string& output = options.dump.output;
  if (output.empty() && needs_output(options)) {
    throw UsageError(fmt::format("{}: no output was given; add -o {}", command, example_output(options.command)));
  }
  const bool is_store =
      options.command == Command::kPlan || options.command == Command::kRetry || !options.plan.manifest.empty();
  if (!is_store && output.find("://") != output.npos) {
    throw UsageError(OfOption("output", masked_uri(output)), "a URL can't be written to; give a path");
  }
  for (const std::string& input : options.inputs) {
    refuse_input_as_output("trace", options.profile.trace, input);
    for (const auto& shot : options.view.screenshots) refuse_input_as_output("screenshot", shot.path, input);
  }
  refuse_input_as_output("output", output, options.reconstruct.against);
  if (options.command == Command::kPlan) options.plan.manifest = options.inputs[0];
  if (reads_store(options.command)) options.work.store = options.inputs[0];
  if (options.command == Command::kReconstruct) {
    options.reconstruct.directory = options.inputs[0];
    options.reconstruct.output = output;
    options.reconstruct.overwrite = options.dump.overwrite;
    options.inputs.clear();
  }
}

}  // namespace saccade
