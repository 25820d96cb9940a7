#include "app/work/plan/item.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/files/sha256.h"
#include "app/json/facts_json.h"
#include "pipeline/secrets.h"

namespace saccade {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;
constexpr std::size_t kKeyDigits = 20;

std::int64_t ns_of(const Json& seconds) { return std::llround(seconds.get<double>() * 1e9); }

}  // namespace

std::string seconds_text(std::int64_t ns) {
  if (ns % kSecond_ns == 0) return fmt::format("{}", ns / kSecond_ns);
  std::string text = fmt::format("{}.{:09}", ns / kSecond_ns, ns % kSecond_ns);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

Json seconds_json(std::int64_t ns) {
  if (ns % kSecond_ns == 0) return ns / kSecond_ns;
  return static_cast<double>(ns) / 1e9;
}

bool is_fetched(std::string_view uri) {
  const std::size_t end = uri.find("://");
  if (end == std::string_view::npos || uri.starts_with("lavfi:") || uri.starts_with("file:")) return false;
  const std::string_view scheme = uri.substr(0, end);
  return scheme != "test" && !is_network_scheme(scheme);
}

Json item_json(const WorkItem& item) {
  return {{"key", item.key},
          {"uri", item.uri},
          {"start", seconds_json(item.start_ns)},
          {"end", item.end_ns ? seconds_json(*item.end_ns) : Json(nullptr)},
          {"stream", or_null(item.stream)},
          {"row", item.row},
          {"piece", item.piece},
          {"pieces", item.pieces},
          {"media_s", item.media_s},
          {"extra", item.extra},
          {"input", item.input}};
}

Json shown_item_json(const WorkItem& item) {
  Json json = item_json(item);
  json["uri"] = masked_uri(item.uri);
  json.erase("input");
  return json;
}

WorkItem item_of(const Json& json) {
  WorkItem item;
  item.key = json.at("key");
  item.uri = json.at("uri");
  item.start_ns = ns_of(json.at("start"));
  if (!json.at("end").is_null()) item.end_ns = ns_of(json.at("end"));
  if (!json.at("stream").is_null()) item.stream = json.at("stream").get<int>();
  item.row = json.at("row");
  item.piece = json.at("piece");
  item.pieces = json.at("pieces");
  item.media_s = json.at("media_s");
  item.extra = json.at("extra");
  item.input = json.value("input", Json());  // earlier versions didn't look
  return item;
}

std::string item_identity(const WorkItem& item) {
  return fmt::format("{}|{}|{}|{}", item.uri, seconds_text(item.start_ns),
                     item.end_ns ? seconds_text(*item.end_ns) : "", item.stream ? fmt::format("{}", *item.stream) : "");
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string default_key(const WorkItem& item) { return sha256_of(item_identity(item)).substr(0, kKeyDigits); }

}  // namespace saccade
