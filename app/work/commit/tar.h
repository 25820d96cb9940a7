// Reproducible USTAR archives: the same members give the same bytes anywhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "app/files/sha256.h"

namespace saccade {

// One archive, written from front to end and hashed on the way. Throws Error of kOutput. One thread.
class TarWriter {
 public:
  explicit TarWriter(const std::string& path);
  ~TarWriter();
  TarWriter(const TarWriter&) = delete;
  TarWriter& operator=(const TarWriter&) = delete;

  struct Member {
    std::uint64_t offset = 0;  // of its bytes in the archive
    std::uint64_t bytes = 0;
    std::string sha256;
  };
  Member add(const std::string& name, std::string_view data);
  Member add_file(const std::string& name, const std::string& path);
  void finish();  // the end's two blocks, and all of it on disk
  std::uint64_t bytes() const { return at_; }
  const std::string& sha256() const { return sha256_; }  // after finish()

 private:
  void put(const void* data, std::size_t size);
  void put_header(const std::string& name, std::uint64_t size);
  void pad();
  [[noreturn]] void fail() const;

  std::string path_;
  int fd_ = -1;
  std::uint64_t at_ = 0;
  Sha256 digest_;
  std::string sha256_;
};

}  // namespace saccade
