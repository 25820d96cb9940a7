// A text file that is there whole or not at all.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace saccade {

// Writes the parts one after the other under a temporary name beside `path`, then renames. What was there before stays
// until then, and where it fails. Returns why it failed; empty: it is written.
[[nodiscard]] std::string replace_file(const std::string& path, std::initializer_list<std::string_view> parts);

// Waits until a file, or the names in a folder, are on disk: a loss of power leaves them. Returns why it failed.
[[nodiscard]] std::string sync_to_disk(const std::string& path);

// What may help where writing failed, for a reason in strerror()'s words: "free some space" ...
[[nodiscard]] const char* writing_advice(std::string_view reason);

}  // namespace saccade
