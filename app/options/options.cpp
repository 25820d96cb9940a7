#include "app/options/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "app/options/checks.h"
#include "app/options/config.h"
#include "app/options/effects.h"
#include "app/options/hint_flags.h"
#include "app/options/manual.h"
#include "app/options/origins.h"
#include "app/options/overrides.h"
#include "app/options/table.h"
#include "app/process/exit_code.h"
#include "app/version.h"
#include "pipeline/error.h"
#include "pipeline/options/option_error.h"
#include "pipeline/options/resolve.h"
#include "pipeline/options/values.h"
#if SACCADE_CUDA
#include "gpu/cuda/device.h"
#endif

namespace saccade {
namespace {

struct CommandText {
  Command command;
  const char* usage;
  const char* what;
};
constexpr CommandText kCommands[] = {
    {Command::kView, "saccade view INPUT [options]",
     "watch and tune it in a window; --serve: in a browser; --offscreen: pictures"},
    {Command::kDump, "saccade dump INPUT... -o DIR [options]", "a video's patches to disk, headless"},
    {Command::kProfile, "saccade profile INPUT [options]", "stage times against a frame budget"},
    {Command::kInfo, "saccade info [INPUT...] [options]",
     "what this machine can do; what a file is, and what will be done to it"},
    {Command::kReconstruct, "saccade reconstruct DIR -o out.mp4|out.png [options]", "pictures of what a dump holds"},
    {Command::kPlan, "saccade plan MANIFEST -o STORE [options]", "many videos: freeze what is to be done"},
    {Command::kWork, "saccade work STORE [options]", "do it, beside others that do"},
    {Command::kStatus, "saccade status STORE", "how far it is; counts that add up"},
    {Command::kVerify, "saccade verify STORE [--sample N]", "read all that is done again, and compare hashes"},
    {Command::kGc, "saccade gc STORE", "remove what processes left that were cut short"},
    {Command::kRetry, "saccade retry STORE -o STORE2|--in-place [--class LIST]", "do again what was quarantined"},
    {Command::kWorker, "", "what `work` runs"},
};

constexpr const char* kInputHelp =
    "INPUT: a path, - (stdin), a URL that FFmpeg opens, screen:, lavfi:GRAPH, test://NAME; a name that begins with\n"
    "'-' comes after --.";

std::string program_help() {
  std::string text =
      fmt::format("saccade {}: the few patches of a video that a model does not have yet\n\n", version());
  for (const auto& command : kCommands) {
    if (*command.usage != 0) text += fmt::format("  {:<56} {}\n", command.usage, command.what);
  }
  text += fmt::format("\n{} `saccade COMMAND --help` lists a command's options.\n", kInputHelp);
  text +=
      "Exit codes: 0 ok, 1 unexpected, 2 usage, 3 some inputs failed or were damaged, 4 interrupted with a valid "
      "partial\n"
      "result, 65 bad input, 69 device or display missing.\n";
  return text;
}

const CommandText& command_named(const std::string& word) {
  for (const auto& command : kCommands) {
    if (word == name(command.command)) return command;
  }
  const bool is_option = !word.empty() && word[0] == '-';
  throw UsageError(is_option ? fmt::format("{}: the command comes first: {}", word, or_list(kPublicCommands))
                             : fmt::format("unknown command '{}'; it may be {}", word, or_list(kPublicCommands)));
}

// What CLI11 found, as text.
struct ParsedLine {
  std::vector<std::string> inputs;
  GivenValues given;
  std::string help;  // not empty: it was asked for
  std::vector<std::string> warnings;
};

// Settings were options once, and are taken so until the next version.
std::string as_setting(const ProgramOption& row) {
  return fmt::format("--{}: leaves with the next version; write {}{}", row.spec().name, flag_of(row.spec().name),
                     row.is_flag() ? "" : fmt::format("={}", row.spec().metavar));
}

void add_options(CLI::App& app, Command command, std::vector<std::string>& inputs) {
  app.add_option("INPUT", inputs, "what to read")->group("");
  for (const ProgramOption& row : option_table()) {
    if (!row.is_of(command)) continue;
    const OptionSpec& spec = row.spec();
    const std::string_view letter = row.place().short_name;
    const std::string dashed = (letter.empty() ? "" : fmt::format("-{},", letter)) + fmt::format("--{}", spec.name);
    std::string help = with_names(spec.help, "--");
    const bool flag_like = row.is_flag();
    if (!spec.default_text.empty() && !flag_like) help += fmt::format(" [{}]", spec.default_text);
    CLI::Option* option =
        flag_like ? app.add_flag(dashed)->description(help) : app.add_option(dashed)->description(help);
    if (!flag_like) option->type_name(std::string(spec.metavar));
    if (!row.place().bare.empty()) option->expected(0, 1);
    option->group(spec.instead.empty() && !row.is_setting() ? std::string(spec.group) : "");
    option->multi_option_policy(row.place().repeats ? CLI::MultiOptionPolicy::TakeAll
                                                    : CLI::MultiOptionPolicy::TakeLast);
  }
}

// lists: where the names stand that there are.
[[noreturn]] void refuse_extra(const std::string& extra, Command command, std::string_view lists) {
  const std::string bare = extra.substr(std::min(extra.find_first_not_of('-'), extra.size()));
  const std::string word = bare.substr(0, bare.find('='));
  const ProgramOption* known = find_option(word);
  const std::string dashed = extra.substr(0, extra.find('='));
  if (known != nullptr && !known->is_of(command))
    throw UsageError(fmt::format("{}: not an option of '{}'", dashed, name(command)));
  const std::string advice = advice_on(word, command_bit(command), "--");
  if (!advice.empty()) throw UsageError(fmt::format("unknown option {}; {}", dashed, advice));
  throw UsageError(fmt::format("unknown option {}; {}", dashed, lists));
}

// NAME=VALUE of --set; of a flag also NAME. One that repeats may be set again.
void take_setting(GivenValues& given, const std::string& text, Command command) {
  const std::size_t equals = text.find('=');
  const std::string word = text.substr(0, equals);
  if (word.empty() || word.starts_with('-'))
    throw UsageError(fmt::format("--set '{}': wants NAME=VALUE, the name without dashes", text));
  const ProgramOption* option = find_option(word);
  if (option == nullptr || !option->is_of(command)) refuse_extra("--" + word, command, "docs/OPTIONS.md lists them");
  if (!option->place().in_config) throw UsageError(fmt::format("--set {0}: write --{0}", word));
  if (equals == std::string::npos && !option->is_flag())
    throw UsageError(fmt::format("--set {0}: needs a value: --set {0}={1}", word, option->spec().metavar));
  const std::string value = equals == std::string::npos ? "true" : text.substr(equals + 1);
  GivenValue& entry = given[word];
  entry.text = option->place().repeats && entry.typed ? entry.text + "\n" + value : value;
  entry.typed = true;
}

// Of an option that may be bare. What follows it may be the INPUT: then that is what was meant.
std::string optional_value(const std::string& text, const ProgramOption& row, std::vector<std::string>& inputs) {
  const std::string bare(row.place().bare);
  if (text.empty() || text == "true" || text == "{}") return bare;  // CLI11's words for none
  std::error_code ignored;
  const bool names_input =
      text == "-" || text.find("://") != std::string::npos || std::filesystem::exists(text, ignored);
  if (!inputs.empty() || !names_input) return text;
  inputs.push_back(text);
  return bare;
}

ParsedLine parse_line(int argc, const char* const* argv, const CommandText& command) {
  ParsedLine line;
  CLI::App app(command.what);
  app.name(fmt::format("saccade {}", name(command.command)));
  if (std::string_view(command.usage).find("INPUT") != std::string_view::npos) app.footer(kInputHelp);
  app.allow_extras();
  add_options(app, command.command, line.inputs);
  try {
    app.parse(argc - 1, argv + 1);
  } catch (const CLI::CallForHelp&) {
    line.help = app.help();
    const std::size_t usage = line.help.find("Usage:");  // CLI11's leaves out what an INPUT is
    if (usage != std::string::npos) {
      line.help.replace(usage, line.help.find('\n', usage) - usage, fmt::format("Usage: {}", command.usage));
    }
    return line;
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  const std::string lists =
      fmt::format("`saccade {} --help` lists them (a file of that name comes after --)", name(command.command));
  for (const auto& extra : app.remaining()) {
    if (extra != "--") refuse_extra(extra, command.command, lists);
  }
  for (const ProgramOption& row : option_table()) {
    if (!row.is_of(command.command)) continue;
    const std::string dashed = fmt::format("--{}", row.spec().name);
    const CLI::Option* option = app.get_option(dashed);
    if (option->count() == 0) continue;
    std::string text =
        row.place().repeats ? fmt::format("{}", fmt::join(option->results(), "\n")) : option->results().back();
    if (!row.place().bare.empty()) text = optional_value(text, row, line.inputs);
    line.given[std::string(row.spec().name)] = {.text = text, .typed = true, .origin = {}};
    if (row.is_setting()) line.warnings.push_back(as_setting(row));
  }
  if (const CLI::Option* settings = app.get_option("--set"); settings->count() > 0) {
    for (const std::string& setting : settings->results()) take_setting(line.given, setting, command.command);
  }
  return line;
}

bool is_typed(const GivenValues& given, std::string_view name) {
  const auto found = given.find(name);
  return found != given.end() && found->second.typed;
}

void apply_given(Options& options, const GivenValues& given) {
  for (const bool typed : {false, true}) {  // of one setting that two options reach, what is typed wins
    for (const ProgramOption& row : option_table()) {
      const auto found = given.find(row.spec().name);
      if (found == given.end() || found->second.typed != typed) continue;
      try {
        row.parse(options, found->second.text);
      } catch (const UsageError& error) {
        throw UsageError(OfOption(row.spec().name), error.what(), error.hint());
      }
    }
  }
  // Settings files hold everything, also what another setting leaves without effect. One without a lattice was written
  // when the default followed an acuity: it must say which it wants.
  const bool acuity_is_typed = is_typed(given, "e0") || is_typed(given, "m0") || is_typed(given, "preset");
  options.lattice.acuity_is_stored = !acuity_is_typed && given.count("lattice") != 0;
  options.gaze_is_stored = !is_typed(given, "gaze") && !is_typed(given, "gaze-units");
}

std::vector<std::string> warnings_of(const GivenValues& given) {
  std::vector<std::string> lines;
  for (const auto& [key, value] : given) {
    const std::string_view instead = find_option(key)->spec().instead;
    if (instead.empty()) continue;
    lines.push_back(fmt::format("{}: leaves with the next version; {}", origin_of(key), with_names(instead, "--")));
  }
  return lines;
}

// A record of what shapes the result, for meta.json and --resume.
std::vector<std::pair<std::string, std::string>> record(const Options& options) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const ProgramOption& row : option_table()) {
    if (!row.spec().shapes_result || !row.is_of(options.command)) continue;
    const std::string text = row.print(options).value_or(row.spec().default_text);
    if (!text.empty()) texts.emplace_back(row.spec().name, text);
  }
  return texts;
}

StreamUse use_of(Command command) {
  if (command == Command::kView) return StreamUse::kDraw;
  const bool runs = command == Command::kDump || command == Command::kProfile;
  return runs ? StreamUse::kRun : StreamUse::kInspect;
}

// The process is ours: threads that wait for a GPU leave their core to others. Before anything else uses CUDA.
void prepare_cuda([[maybe_unused]] const Options& options) {
#if SACCADE_CUDA
  const bool decodes = options.hwdec == HwDecode::kCuda || options.require_hwdec;
  const bool may_choose = options.backend == kAutoBackend && use_of(options.command) == StreamUse::kRun;
  if (decodes || may_choose || options.backend == name(Backend::kCuda))
    sleep_while_waiting_for_cuda(options.pipeline.device);
#endif
}

std::optional<Options> parse_command(int argc, const char* const* argv, const CommandText& command) {
  ParsedLine line = parse_line(argc, argv, command);
  if (!line.help.empty()) {
    std::fputs(line.help.c_str(), stdout);
    return std::nullopt;
  }
  GivenValues given;
  if (const auto config = line.given.find("config"); config != line.given.end()) {
    given = read_config(config->second.text, command.command);
    drop_overridden(given, line.given);
  }
  for (auto& [key, value] : line.given) given[key] = std::move(value);
  remember_origins(given);

  Options options;
  options.command = command.command;
  options.warnings = warnings_of(given);
  options.warnings.insert(options.warnings.end(), line.warnings.begin(), line.warnings.end());
  apply_given(options, given);
  check_conflicts(options);
  check_options(options);
  if (given.count("print-config") != 0) {
    std::fputs(write_config(options).c_str(), stdout);
    return std::nullopt;
  }
  options.in_force = record(options);
  options.inputs = std::move(line.inputs);
  check_effects(options, given);
  check_inputs(options);
  prepare_cuda(options);
  if (command.command == Command::kPlan) return options;  // for machines elsewhere, whatever this one has
  resolve(options, use_of(command.command));
  return options;
}

}  // namespace

Options recorded_options(const std::vector<std::pair<std::string, std::string>>& texts) {
  GivenValues given;
  for (const auto& [recorded, text] : texts) {
    const std::string key(current_option(recorded));
    if (find_option(key) == nullptr)
      throw UsageError(fmt::format("unknown option {}; {}", key, advice_on(key, kForDump, "--")));
    given[key] = {.text = text, .origin = {}};
  }
  Options options;
  options.command = Command::kDump;
  apply_given(options, given);
  check_conflicts(options);
  check_options(options);
  options.in_force = record(options);
  prepare_cuda(options);
  resolve(options, StreamUse::kRun);
  return options;
}

std::optional<Options> parse_options(int argc, const char* const* argv, int& exit_code) {
  exit_code = static_cast<int>(ExitCode::kOk);
  try {
    if (argc < 2) {
      std::fputs(program_help().c_str(), stderr);
      exit_code = static_cast<int>(ExitCode::kUsage);
      return std::nullopt;
    }
    const std::string word = argv[1];
    if (word == "--help" || word == "-h") {
      std::fputs(program_help().c_str(), stdout);
      return std::nullopt;
    }
    if (word == "--print-options-md") {
      std::fputs(options_manual().c_str(), stdout);
      return std::nullopt;
    }
    if (word == "--version") {
      fmt::print("saccade {}\n", version());
      return std::nullopt;
    }
    return parse_command(argc, argv, command_named(word));
  } catch (const Error& error) {
    fmt::print(stderr, "saccade: {}\n", error_text(error));
    exit_code = static_cast<int>(saccade::exit_code(error.kind()));
    return std::nullopt;
  }
}

}  // namespace saccade
