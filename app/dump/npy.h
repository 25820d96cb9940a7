// NumPy's .npy files, version 1.0, that grow by rows and open at any moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace saccade {

inline constexpr std::size_t kNpyHeaderBytes = 256;  // fixed: room for any row count

// The header of a C-order array. descr: a Python literal ("'|u1'" or a list of fields). Source: numpy.lib.format.
std::string npy_header(const std::string& descr, std::int64_t rows, const std::vector<std::int64_t>& row_shape);

// One growing array. The file appears under its name with a valid header of 0 rows; rows show once commit() counts
// them. Failed calls throw Error naming the file and the reason; what was committed stays valid. One thread; append()
// allocates nothing.
class NpyFile {
 public:
  NpyFile(const std::string& path, std::string descr, std::vector<std::int64_t> row_shape, std::size_t row_bytes);
  ~NpyFile();
  NpyFile(const NpyFile&) = delete;
  NpyFile& operator=(const NpyFile&) = delete;

  void append(const void* row);    // row_bytes
  void drain();                    // hands what is buffered to the system
  void commit(std::int64_t rows);  // after drain(): the header now says `rows`
  void close();                    // reports what the system only says at the end
  std::int64_t bytes_written() const { return written_; }

 private:
  void put(const void* data, std::size_t size);
  [[noreturn]] void fail() const;

  std::string path_;
  std::string descr_;
  std::vector<std::int64_t> row_shape_;
  std::size_t row_bytes_;
  std::vector<std::byte> buffer_;  // small rows gather here
  std::size_t buffered_ = 0;
  std::int64_t written_ = 0;
  int fd_ = -1;
};

}  // namespace saccade
