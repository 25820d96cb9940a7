#include "app/work/plan/input_facts.h"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

#include "app/files/input_identity.h"
#include "app/files/read_file.h"
#include "pipeline/error.h"
#include "pipeline/secrets.h"

namespace saccade {
namespace {

// A CSV's fields are text.
std::optional<std::uint64_t> whole_number(const Json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole ? std::optional(number) : std::nullopt;
}

// None also where it can't be looked at: what is wrong with it comes out where it is opened.
std::optional<FileFacts> facts_of(const std::string& uri) {
  const std::string path = regular_file(uri);
  try {
    return path.empty() ? std::nullopt : look_at(path);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

Json input_facts(const std::string& uri, const Json& extra) {
  if (const auto facts = facts_of(uri)) return {{"bytes", facts->bytes}, {"mtime_ns", facts->written_ns}};
  const Json etag = extra.value("etag", Json());
  if (!regular_file(uri).empty() || !etag.is_string() || etag == "") return nullptr;
  Json input = {{"etag", etag}};
  if (const auto bytes = whole_number(extra.value("bytes", Json()))) input["bytes"] = *bytes;
  return input;
}

std::optional<InputChange> input_change(const WorkItem& item) {
  if (!item.input.is_object() || !item.input.contains("mtime_ns")) return std::nullopt;
  const auto now = facts_of(item.uri);
  if (!now) return std::nullopt;
  const std::uint64_t planned = item.input.at("bytes");
  if (now->bytes != planned) {
    return InputChange{fmt::format("{}: changed after `plan`: {} bytes then, {} now; `saccade retry` plans it as it is",
                                   item.uri, planned, now->bytes),
                       true};
  }
  if (now->written_ns == item.input.at("mtime_ns")) return std::nullopt;
  return InputChange{
      fmt::format("{}: was written to after `plan`, and has as many bytes as before; it is taken as it is", item.uri)};
}

std::string object_change(const WorkItem& item, std::uint64_t bytes, const std::string& etag) {
  if (!item.input.is_object()) return {};
  const std::uint64_t planned = item.input.value("bytes", bytes);
  const std::string tag = item.input.value("etag", etag);
  std::string what;
  if (planned != bytes)
    what = fmt::format("{} bytes then, {} now", planned, bytes);
  else if (!etag.empty() && tag != etag)
    what = fmt::format("ETag {} then, {} now", tag, etag);
  if (what.empty()) return {};
  return fmt::format("{}: changed after `plan`: {}; `saccade retry` plans it as it is", masked_uri(item.uri), what);
}

}  // namespace saccade
