#include "app/work/run/share.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "pipeline/error.h"

namespace saccade {
namespace {

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool good = error == std::errc{} && end == text.data() + text.size() && value >= 0;
  return good ? std::optional(value) : std::nullopt;
}

}  // namespace

Share share_of(const std::string& text) {
  const std::size_t slash = text.find('/');
  const auto index = whole(text.substr(0, slash));
  const auto count = slash == std::string::npos ? std::nullopt : whole(std::string_view(text).substr(slash + 1));
  if (index && count && *index < *count) return {*index, *count};
  throw UsageError(OfOption("shard", text), "is not I/N with I from 0 to N - 1, as 3/64");
}

}  // namespace saccade
