// Files that are written whole, or not at all.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace saccade {

// Writes the parts one after the other under a temporary name beside `path`, then renames. What was there before stays
// until then, and where it fails. Returns 0, or the errno of what failed.
[[nodiscard]] int replace_file(const std::string& path, std::initializer_list<std::string_view> parts);

// Writes all of it to a descriptor, however often that takes. Returns 0 or an errno.
[[nodiscard]] int write_all(int fd, const void* data, std::size_t size);

// Waits until a file, or the names in a folder, are on disk: a loss of power leaves them. Returns 0 or an errno.
[[nodiscard]] int sync_to_disk(const std::string& path);

// Throws Error of kOutput: "PATH: could not be written: REASON; free some space". The advice is what `fault`, an errno,
// asks for. `other`: what helps beside it, as "choose another -o".
[[noreturn]] void fail_to_write(const std::string& path, int fault, std::string_view other = {});

}  // namespace saccade
