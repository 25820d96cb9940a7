#include "app/json/json_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "pipeline/error.h"

namespace saccade {

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json read_json(const std::string& path) {
  std::ifstream file(path);
  if (!file) return nullptr;
  Json json = Json::parse(file, nullptr, false);
  return json.is_discarded() ? Json(nullptr) : json;
}

void write_json(const std::string& path, const Json& json) {
  const std::string temporary = path + ".tmp";
  const std::string text = json_text(json, 2) + "\n";
  std::FILE* file = std::fopen(temporary.c_str(), "wbe");
  bool ok = file != nullptr;
  if (ok) {
    ok = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    ok = std::fflush(file) == 0 && ok;
    const int fault = errno;
    ok = std::fclose(file) == 0 && ok;
    if (!ok && fault != 0) errno = fault;
  }
  if (!ok || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    std::remove(temporary.c_str());
    throw Error(ErrorKind::kOutput,
                fmt::format("{}: could not be written: {}; free some space or choose another -o", path, reason));
  }
}

}  // namespace saccade
