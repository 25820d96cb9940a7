// Which input a dump was made of: name, size and hash.
#pragma once

#include <chrono>
#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <thread>

namespace saccade {

struct InputIdentity {
  std::string uri;                   // as it may be shown: Note [Secrets] in secrets.h
  std::string name;                  // the file's name, or the uri
  std::optional<std::int64_t> size;  // of a regular file
  std::string sha256;                // hexadecimal; "pattern" for test:// and lavfi:; kStreamHash; empty: not known yet
};

inline constexpr const char* kStreamHash = "stream";

// Of a file that is opened, too; hexadecimal. Empty: it can't be read, which comes out where it is opened.
std::string file_sha256(const std::string& path);

// The path behind a uri that names a regular file ("file:" taken off); empty for everything else.
std::string regular_file(const std::string& uri);

// Whether it gives the same a second time: a file, or what a web server has.
bool can_be_read_again(const std::string& uri);

// The name a dump of this input gets below a common folder: never empty, no separators.
std::string folder_name(const std::string& uri);

// Hashes a file: small ones at once, large ones on a thread beside the decoder (they come through the same page cache).
class InputHash {
 public:
  // wanted false: a file's hash stays empty, for many pieces of one large file.
  explicit InputHash(const std::string& uri, bool wanted = true);
  const InputIdentity& now();                    // the hash may be missing
  bool wait(std::chrono::milliseconds longest);  // true: it is known, or never will be
  const InputIdentity& finish();                 // waits for it; empty when the file could not be read to its end

 private:
  InputIdentity identity_;
  std::future<std::string> pending_;
  std::jthread thread_;  // last: the destructor stops and joins it first
};

}  // namespace saccade
