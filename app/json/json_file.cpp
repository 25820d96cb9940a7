#include "app/json/json_file.h"

#include "app/files/read_file.h"
#include "app/files/whole_file.h"

namespace saccade {

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json parse_json(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  return json.is_discarded() ? Json(nullptr) : json;
}

Json read_json(const std::string& path) {
  const auto text = read_file(path);
  return text ? parse_json(*text) : Json(nullptr);
}

void write_json(const std::string& path, const Json& json) {
  const int fault = replace_file(path, {json_text(json, 2), "\n"});
  if (fault != 0) fail_to_write(path, fault, "choose another -o");
}

}  // namespace saccade
