// JSON as the program reads and writes it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace saccade {

using Json = nlohmann::ordered_json;

std::string json_text(const Json& json, int indent);  // never throws on text that is no UTF-8

Json parse_json(const std::string& text);  // null: it is not JSON

// Read and write a whole file; writing goes through a temporary name and a rename. Throw Error of kOutput.
Json read_json(const std::string& path);  // null: there is no such file, or it is not JSON
void write_json(const std::string& path, const Json& json);

}  // namespace saccade
