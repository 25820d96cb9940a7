#include "pipeline/options/option_error.h"

#include <fmt/format.h>

#include "pipeline/options/option.h"

namespace saccade {
namespace {

std::string spelled(const std::string& fault, bool names_options, std::string_view prefix) {
  return names_options ? with_names(fault, prefix) : fault;
}

}  // namespace

std::string with_names(std::string_view text, std::string_view prefix) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('{', at);
    const std::size_t close = open == std::string_view::npos ? open : text.find('}', open);
    if (close == std::string_view::npos) return out.append(text.substr(at));
    out.append(text.substr(at, open - at)).append(prefix).append(text.substr(open + 1, close - open - 1));
    at = close + 1;
  }
  return out;
}

OptionError::OptionError(std::string_view option, std::string_view value, std::string fault, bool names_options)
    : UsageError(OfOption(option, value), spelled(fault, names_options, "")),
      value_(value),
      fault_(std::move(fault)),
      names_options_(names_options) {}

std::string OptionError::tail(std::string_view prefix) const {
  return fmt::format("{}{}: {}", value_.empty() ? "" : " ", value_, spelled(fault_, names_options_, prefix));
}

}  // namespace saccade
