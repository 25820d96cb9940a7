#include "pipeline/options/option_error.h"

#include <fmt/format.h>

#include "pipeline/options/option.h"

namespace saccade {
namespace {

// Appends `text` with each {name} as `prefix` and the name; `found`: where they stand then. May be null.
void append_named(std::string& out, std::string_view text, std::string_view prefix, std::vector<NamedOption>* found) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('{', at);
    const std::size_t close = open == std::string_view::npos ? open : text.find('}', open);
    out.append(text.substr(at, close == std::string_view::npos ? close : open - at));
    if (close == std::string_view::npos) return;
    std::string_view name = text.substr(open + 1, close - open - 1);
    const bool advised = name.starts_with('+');
    if (advised) name.remove_prefix(1);
    if (found != nullptr) found->push_back({std::string(name), out.size(), advised});
    out.append(prefix).append(name);
    at = close + 1;
  }
}

}  // namespace

std::string name_options(std::string_view text, std::vector<NamedOption>& found) {
  std::string out;
  append_named(out, text, "", &found);
  return out;
}

std::string with_names(std::string_view text, std::string_view prefix) {
  std::string out;
  append_named(out, text, prefix, nullptr);
  return out;
}

OptionError OptionError::naming(std::string_view option, std::string_view fault, std::string_view value) {
  Fault told{ErrorKind::kUsage, fmt::format("{}{}{}: ", option, value.empty() ? "" : " ", value), Hint::kNone, {}};
  told.options.push_back({std::string(option)});
  append_named(told.what, fault, "", &told.options);
  return OptionError(told);
}

}  // namespace saccade
