#include "app/options/manual.h"

#include <fmt/format.h>

#include <string_view>

#include "app/options/table.h"

namespace saccade {
namespace {

constexpr std::string_view kHead = R"(# Options

Written by `saccade --print-options-md > docs/OPTIONS.md` from the table that parses them; a test keeps it current.
`saccade COMMAND --help` lists those of a command. Those of videos are options of `dump`,
`profile`, `info`, `reconstruct`, `view` and `plan`, those of streams of the same but `reconstruct`.

`--config FILE.toml` reads the same names, without dashes, from a file: at its top, or in a table named after a command
(`[dump]`), which wins over the top. What is typed wins over the file, also over what conflicts with it there.
`--print-config` writes the options in force as such a file. [Settings](#settings) have no option of their own: they
stand in such a file, or behind `--set`. The library's callers set options and settings of a stream by these names,
too ([API.md](API.md)), except those marked *(program)*.
)";

constexpr std::string_view kOfSettings =
    "\n## Settings\n\n`--set NAME=VALUE`, which may be repeated, or `NAME = VALUE` in a file: `--set crop-tags=no`, "
    "`--set pause`.\n\n| setting | default | commands | what it does |\n|---|---|---|---|\n";

// As in a cell of a table.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

std::string name_cell(const ProgramOption& option) {
  const OptionSpec& spec = option.spec();
  const std::string_view letter = option.place().short_name;
  const bool bare = !option.place().bare.empty();
  const std::string value = bare               ? fmt::format(" [{}]", spec.metavar)
                            : option.is_flag() ? spec.metavar.empty() ? "" : fmt::format("[={}]", spec.metavar)
                                               : fmt::format(" {}", spec.metavar);
  const std::string dashes = option.is_setting() ? "" : letter.empty() ? "--" : fmt::format("-{}, --", letter);
  return fmt::format("`{}{}{}`", dashes, spec.name, cell(value));
}

std::string default_cell(const ProgramOption& option) {
  const std::string& text = option.spec().default_text;
  return text.empty() || (option.is_flag() && text == "false") ? "-" : fmt::format("`{}`", cell(text));
}

std::string commands_cell(const ProgramOption& option) {
  if (option.place().commands == kForAll) return "all";
  if (option.place().commands == kForVideos) return "of videos";
  if (option.place().commands == kForStreams) return "of streams";
  std::string list;
  for (const EnumName<Command>& command : names_of(Command{})) {
    if (option.is_of(command.value)) list += fmt::format("{}`{}`", list.empty() ? "" : ", ", command.text);
  }
  return list;
}

std::string text_cell(const ProgramOption& option) {
  std::string text = cell(with_names(option.spec().help, "--"));
  if (!option.spec().more.empty()) text += ". " + cell(with_names(option.spec().more, "--"));
  return option.is_of_stream() ? text : text + " *(program)*";
}

std::string row(const ProgramOption& option) {
  return fmt::format("| {} | {} | {} | {} |\n", name_cell(option), default_cell(option), commands_cell(option),
                     text_cell(option));
}

std::string group_table(std::string_view group) {
  std::string text =
      fmt::format("\n## {}\n\n| option | default | commands | what it does |\n|---|---|---|---|\n", group);
  for (const ProgramOption& option : option_table()) {
    if (option.spec().group == group && option.spec().instead.empty() && !option.is_setting()) text += row(option);
  }
  return text;
}

std::string settings_table() {
  std::string text(kOfSettings);
  for (const ProgramOption& option : option_table()) {
    if (option.is_setting()) text += row(option);
  }
  return text;
}

std::string conflicts_table() {
  std::string text =
      "\n## Which of two\n\nOnly the options of one side may be given. An option that the lattice has no use for is "
      "an error: `--fovea` needs `nested`. `--e0`, `--m0` and `--preset` need `nested` or `grid`. `lod` needs "
      "`uniform`. "
      "`--tokens-per-second`, `--target-psnr`, `--context` and `eye` need `adaptive`. Where `--lattice` is not given, "
      "an "
      "option of a fovea or another patch size than 16 chooses `nested`.\n\n"
      "| options | or | with lattice | because |\n|---|---|---|---|\n";
  for (const OptionConflict& pair : option_conflicts()) {
    text +=
        fmt::format("| `--{}` | `--{}` | {} | {} |\n", fmt::join(pair.one, "`, `--"), fmt::join(pair.other, "`, `--"),
                    pair.kind ? fmt::format("`{}`", name(*pair.kind)) : "any", pair.why);
  }
  return text;
}

}  // namespace

std::string options_manual() {
  std::string text(kHead);
  for (const std::string_view group :
       {kSourceGroup, kPictureGroup, kFoveaGroup, kScanpathGroup, kOutputGroup, kRunGroup, kManyGroup, kViewGroup}) {
    text += group_table(group);
  }
  return text + settings_table() + conflicts_table();
}

}  // namespace saccade
