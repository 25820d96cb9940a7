// STORE/commits: a marker a unit. docs/STORE.md has the format. All throw Error of kOutput where the store can't be
// read: then nothing is known of its units.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/json/json_file.h"
#include "app/work/store/store.h"

namespace saccade {

std::string marker_name(const std::string& unit);  // "commits/UNIT.json"
std::string unit_of_marker(const std::string& name);

// The marker's bytes. `check` is added as its last member: the SHA-256 of all that stands before it.
std::string marker_text(Json marker);

// None: the unit has no marker. Null: the file is not JSON, or its bytes are not those that were written.
std::optional<Json> read_marker(Store& store, const std::string& unit);
Json marker_of(const std::string& text);  // from the file's bytes; null as above

bool is_committed(Store& store, const std::string& unit);

// The units that have markers, sorted: one listing. A store without the folder has none, as long as it has no parts
// either: the folder is made before them.
std::vector<std::string> committed_units(Store& store);

// The folders of what markers name.
inline constexpr const char* kPartFolders[] = {"shards", "index", "quarantine"};

}  // namespace saccade
