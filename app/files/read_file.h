// Reads what a store or a dump holds. "Not there" is an answer. Any other fault is an Error of kOutput with the
// system's reason, "PATH: could not be read: Input/output error", and says nothing about the bytes. What may pass, as
// an error of a network file system, is tried four times, after 1, 2 and 4 s. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace saccade {

// Calls `on_piece` with the file's bytes from `offset` on, `most` of them or fewer, in order, each once. False: there
// is no such file.
bool read_pieces(const std::string& path, std::uint64_t offset, std::uint64_t most,
                 const std::function<void(std::string_view)>& on_piece);
// None: there is no such file. Fewer bytes than `most`: the file ends before.
std::optional<std::string> read_file(const std::string& path, std::uint64_t offset = 0,
                                     std::uint64_t most = UINT64_MAX);

std::optional<std::string> hash_file(const std::string& path);  // SHA-256, hexadecimal

struct FileFacts {
  std::uint64_t bytes = 0;
  std::int64_t written_ns = 0;  // since 1970
};
double age_s(const FileFacts& facts);  // since it was written to

// Of a file or a folder. None: there is none.
std::optional<FileFacts> look_at(const std::string& path);
inline bool is_there(const std::string& path) { return look_at(path).has_value(); }

// The names in a folder, sorted. None: there is no such folder.
std::optional<std::vector<std::string>> list_folder(const std::string& path);

// As these fail. `fault`: an errno.
[[noreturn]] void fail_to_read(const std::string& path, int fault);

}  // namespace saccade
