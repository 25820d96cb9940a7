#include "app/options/checks.h"

#include <fmt/format.h>

#include <filesystem>

#include "app/input_identity.h"
#include "pipeline/error.h"
#include "pipeline/options/option_error.h"
#include "pipeline/secrets.h"

namespace saccade {
namespace {

bool needs_output(const Options& options) {
  if (options.command == Command::kReconstruct) return options.reconstruct.against.empty();
  return options.command == Command::kDump;
}

}  // namespace

void check_conflicts(const Options& options) {
  if (options.dump.overwrite && options.dump.resume) {
    throw OptionError::naming("overwrite",
                              "conflicts with {resume}: one replaces the dump, the other keeps it; leave one out");
  }
  if (options.view.offscreen && options.view.screenshots.empty()) {
    throw OptionError::naming("offscreen", "nothing is shown without a window; add {screenshot} T=FILE.png");
  }
  if (!options.view.offscreen && !options.view.screenshots.empty()) {
    throw OptionError::naming("screenshot", "needs {offscreen}; in the window, s saves a picture");
  }
}

// What is written must not be what is read.
void refuse_input_as_output(const char* option, const std::string& output, const std::string& input) {
  const std::string path = regular_file(input);
  std::error_code ignored;
  if (path.empty() || output.empty() || !std::filesystem::equivalent(path, output, ignored)) return;
  throw UsageError(fmt::format("{} {}: is the input itself; give another name", option, output));
}

void check_inputs(Options& options) {
  const std::string command = name(options.command);
  const std::size_t count = options.inputs.size();
  if (count == 0 && options.command != Command::kInfo) {
    throw UsageError(fmt::format("{}: no INPUT was given; `saccade {} --help` shows how", command, command));
  }
  for (const auto& input : options.inputs) {
    if (input.empty()) throw UsageError(fmt::format("{}: an INPUT is an empty name", command));
  }
  const bool takes_one = options.command == Command::kProfile || options.command == Command::kReconstruct ||
                         options.command == Command::kView;
  if (count > 1 && takes_one) {
    throw UsageError(fmt::format("{}: takes one INPUT, but got {}: '{}', '{}'", command, count,
                                 masked_uri(options.inputs[0]), masked_uri(options.inputs[1])));
  }
  const std::string& output =
      options.command == Command::kReconstruct ? options.reconstruct.output : options.dump.output;
  if (output.empty() && needs_output(options)) {
    throw UsageError(
        fmt::format("{}: no output was given; add -o {}", command,
                    options.command == Command::kDump ? "DIR" : "out.mp4, -o out.html, -o out.png or --against VIDEO"));
  }
  if (output.find("://") != output.npos) {
    throw UsageError(fmt::format("{}: -o {}: a URL can't be written to; give a path", command, masked_uri(output)));
  }
  for (const std::string& input : options.inputs) {
    refuse_input_as_output("--trace", options.profile.trace, input);
    for (const auto& shot : options.view.screenshots) refuse_input_as_output("--screenshot", shot.path, input);
  }
  refuse_input_as_output("-o", options.reconstruct.output, options.reconstruct.against);
  if (options.command == Command::kReconstruct) {
    options.reconstruct.directory = options.inputs[0];
    options.inputs.clear();
  }
}

}  // namespace saccade
