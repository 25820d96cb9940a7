#include "app/json/json_file.h"

#include <fmt/format.h>

#include <fstream>

#include "app/whole_file.h"
#include "pipeline/error.h"

namespace saccade {

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json read_json(const std::string& path) {
  std::ifstream file(path);
  if (!file) return nullptr;
  try {
    Json json = Json::parse(file, nullptr, false);
    return json.is_discarded() ? Json(nullptr) : json;
  } catch (const std::ios_base::failure&) {  // a folder, or a disk that fails
    return nullptr;
  }
}

void write_json(const std::string& path, const Json& json) {
  const std::string reason = replace_file(path, {json_text(json, 2), "\n"});
  if (!reason.empty()) {
    throw Error(ErrorKind::kOutput, fmt::format("{}: could not be written: {}; {} or choose another -o", path, reason,
                                                writing_advice(reason)));
  }
}

}  // namespace saccade
