// What one line of plan/items.jsonl says: a video, or a piece of one. docs/STORE.md has the format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/json/json_file.h"

namespace saccade {

struct WorkItem {
  std::string key;
  std::string uri;
  std::int64_t start_ns = 0;
  std::optional<std::int64_t> end_ns;  // none: the video's end
  std::optional<int> stream;
  std::int64_t row = 0;  // of the manifest
  int piece = 0, pieces = 1;
  double media_s = 0;  // known or estimated
  Json extra = Json::object();
  Json input;         // what the input was when it was planned: input_facts.h; of the plan's lines alone. Null: unknown
  std::string local;  // a copy that is opened in place of the uri; empty: the uri is opened. Of no written line

  // What is opened.
  const std::string& path() const { return local.empty() ? uri : local; }
};

// Whether FFmpeg does not open it: it has another scheme, as those of buckets, and is fetched first.
bool is_fetched(std::string_view uri);

Json item_json(const WorkItem& item);
Json shown_item_json(const WorkItem& item);  // without users, passwords and tokens: for all files but the plan's
WorkItem item_of(const Json& json);          // throws what nlohmann::json throws

// "12.5": at most nine decimals, no zeros at the end.
std::string seconds_text(std::int64_t ns);
Json seconds_json(std::int64_t ns);

// "uri|start|end|stream": what an item without a given key is known by.
std::string item_identity(const WorkItem& item);
std::string default_key(const WorkItem& item);  // 20 digits of its hash

inline std::string line_of(const Json& json) { return json_text(json, -1) + "\n"; }
std::vector<std::string_view> lines_of(std::string_view text);  // without their ends

}  // namespace saccade
