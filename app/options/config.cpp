#include "app/options/config.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <filesystem>
#include <sstream>

#include "app/version.h"
#include "pipeline/error.h"
#include "pipeline/options/values.h"

namespace saccade {
namespace {

const char* wanted_type(ValueKind kind) {
  switch (kind) {
    case ValueKind::kFlag:
      return "true or false";
    case ValueKind::kText:
    case ValueKind::kChoice:
      return "a string in quotes";
    case ValueKind::kInteger:
      return "a whole number";
    case ValueKind::kNumber:
      return "a number";
    case ValueKind::kIntegers:
      return "an array of whole numbers";
    case ValueKind::kWordOrInteger:
      return "a word in quotes or a whole number";
  }
  return "";
}

std::optional<std::string> array_text(const toml::array* array) {
  if (array == nullptr || array->empty()) return std::nullopt;
  std::string text;
  for (const auto& element : *array) {
    if (!element.is_integer()) return std::nullopt;
    text += fmt::format("{}{}", text.empty() ? "" : ",", element.as_integer()->get());
  }
  return text;
}

// The value as the command line would spell it; nullopt: it has the wrong type.
std::optional<std::string> value_text(const OptionSpec& spec, const toml::node& node) {
  const ValueKind kind = spec.kind;
  if (node.is_boolean()) {
    const bool fits = kind == ValueKind::kFlag || spec.choices == "true|false";
    return fits ? std::optional<std::string>(node.as_boolean()->get() ? "true" : "false") : std::nullopt;
  }
  if (node.is_string()) {
    const bool fits = kind == ValueKind::kText || kind == ValueKind::kChoice ||
                      (kind == ValueKind::kWordOrInteger && spec.choices != "true|false");
    return fits ? std::optional<std::string>(node.as_string()->get()) : std::nullopt;
  }
  if (node.is_integer()) {
    const bool fits = kind == ValueKind::kInteger || kind == ValueKind::kNumber || kind == ValueKind::kWordOrInteger;
    return fits ? std::optional<std::string>(fmt::format("{}", node.as_integer()->get())) : std::nullopt;
  }
  if (node.is_floating_point()) {
    if (kind != ValueKind::kNumber) return std::nullopt;
    return fmt::format("{}", node.as_floating_point()->get());
  }
  return kind == ValueKind::kIntegers ? array_text(node.as_array()) : std::nullopt;
}

struct Reader {
  const std::string& path;
  Command command;
  GivenValues values;

  [[noreturn]] void fail(const toml::node& node, std::string_view key, const std::string& fault) const {
    throw UsageError(fmt::format("{}:{}: {}: {}", path, node.source().begin.line, key, fault));
  }

  void take(std::string_view key, const toml::node& node, unsigned commands, std::string_view table) {
    const ProgramOption* option = find_option(key);
    if (option == nullptr) {
      const std::string advice = advice_on(key, commands, "");
      fail(node, key, "unknown option; " + (advice.empty() ? "docs/OPTIONS.md lists them" : advice));
    }
    if (!option->place().in_config) fail(node, key, "not allowed in a file; give it on the command line");
    if ((option->place().commands & commands) == 0) fail(node, key, fmt::format("not an option of '{}'", table));
    const auto text = value_text(option->spec(), node);
    if (!text) fail(node, key, fmt::format("wants {}", wanted_type(option->spec().kind)));
    if ((commands & command_bit(command)) == 0 || !option->is_of(command)) return;
    values[std::string(key)] = {.text = *text, .origin = fmt::format("{}:{}: {}", path, node.source().begin.line, key)};
  }

  void read(const toml::table& file) {
    for (const auto& [key, node] : file) {
      if (!node.is_table()) take(key.str(), node, kForAll, "saccade");
    }
    for (const auto& [key, node] : file) {
      if (!node.is_table()) continue;
      const auto owner = from_name<Command>(key.str());
      if (!owner || owner == Command::kWorker)
        fail(node, key.str(), fmt::format("unknown table; it may be {}", or_list(kPublicCommands)));
      for (const auto& [inner, value] : *node.as_table()) take(inner.str(), value, command_bit(*owner), key.str());
    }
  }
};

std::string toml_value(const OptionSpec& spec, const std::string& text) {
  const bool is_number = text.find_first_not_of("0123456789") == std::string::npos;
  switch (spec.kind) {
    case ValueKind::kFlag:
    case ValueKind::kInteger:
    case ValueKind::kNumber:
      return text;
    case ValueKind::kIntegers:
      return "[" + text + "]";
    case ValueKind::kWordOrInteger:
      if (is_number || spec.choices == "true|false") return text;
      [[fallthrough]];
    case ValueKind::kText:
    case ValueKind::kChoice:
      break;
  }
  std::ostringstream quoted;
  quoted << toml::value<std::string>(text);
  return quoted.str();
}

}  // namespace

GivenValues read_config(const std::string& path, Command command) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw UsageError(fmt::format("--config {}: is a directory; give a TOML file", path));
  }
  Reader reader{path, command, {}};
  try {
    reader.read(toml::parse_file(path));
  } catch (const toml::parse_error& error) {
    const auto line = error.source().begin.line;
    if (line == 0) throw UsageError(fmt::format("--config {}: {}; check the name", path, error.description()));
    throw UsageError(fmt::format("{}:{}: {}; `saccade dump --print-config` shows how a file looks", path, line,
                                 error.description()));
  }
  return std::move(reader.values);
}

std::string write_config(const Options& options, bool only_tunable) {
  std::string text = fmt::format("# saccade {} {}: the options in force\n", version(), name(options.command));
  for (const ProgramOption& option : option_table()) {
    if (!option.is_of(options.command) || !option.place().in_config) continue;
    if (only_tunable && !option.spec().tunable) continue;
    const auto value = option.print(options);
    if (value) text += fmt::format("{} = {}\n", option.spec().name, toml_value(option.spec(), *value));
  }
  return text;
}

}  // namespace saccade
