#include "app/options/hint_flags.h"

#include "app/options/origins.h"
#include "app/options/table.h"
#include "pipeline/hint_text.h"
#include "pipeline/options/option_error.h"

namespace saccade {
namespace {

std::string with_flags(std::string text, const std::vector<NamedOption>& options) {
  for (auto option = options.rbegin(); option != options.rend(); ++option) {
    const std::string spelled = option->advised ? flag_of(option->name) : origin_of(option->name);
    const ProgramOption* row = find_option(option->name);
    const std::size_t end = option->at + option->name.size();
    const bool takes_value = row != nullptr && row->is_setting() && !row->is_flag() && spelled.starts_with("--");
    if (takes_value && end < text.size() && text[end] == ' ') text[end] = '=';  // its value follows
    text.replace(option->at, option->name.size(), printable(spelled));
  }
  return text;
}

}  // namespace

std::string flags(Hint hint) {
  std::vector<NamedOption> named;
  const std::string text = name_options(hint_text(hint), named);
  for (NamedOption& option : named) option.advised = true;
  return with_flags(text, named);
}

std::string error_text(const Fault& fault) {
  const std::string text = with_flags(fault.what, fault.options), hint = flags(fault.hint);
  return hint.empty() ? text : text + "; " + hint;
}

std::string error_text(const Error& error) { return error_text(error.fault()); }

}  // namespace saccade
