#include "app/dump/npy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "app/files/whole_file.h"

namespace saccade {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 18;
constexpr std::size_t kDirectBytes = std::size_t{1}
                                     << 16;  // rows this large are written straight from the caller's memory
constexpr std::size_t kPreambleBytes = 10;   // magic, version, header length

}  // namespace

std::string npy_header(const std::string& descr, std::int64_t rows, const std::vector<std::int64_t>& row_shape) {
  std::string shape = fmt::format("{},", rows);
  for (std::size_t i = 0; i < row_shape.size(); ++i) {
    shape += fmt::format(" {}{}", row_shape[i], i + 1 < row_shape.size() ? "," : "");
  }
  std::string text = fmt::format("{{'descr': {}, 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  const std::size_t length = kNpyHeaderBytes - kPreambleBytes;
  if (text.size() + 1 > length) throw std::length_error("npy header: no room for " + text);
  text.resize(length - 1, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(length & 0xFF);
  header += static_cast<char>(length >> 8);
  return header + text;
}

NpyFile::NpyFile(const std::string& path, std::string descr, std::vector<std::int64_t> row_shape, std::size_t row_bytes)
    : path_(path), descr_(std::move(descr)), row_shape_(std::move(row_shape)), row_bytes_(row_bytes) {
  if (row_bytes_ < kDirectBytes) buffer_.resize(kBufferBytes);
  const std::string temporary = path + ".tmp";
  const std::string header = npy_header(descr_, 0, row_shape_);
  fd_ = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd_ < 0) fail();
  try {
    put(header.data(), header.size());
    if (std::rename(temporary.c_str(), path.c_str()) != 0) fail();
  } catch (...) {
    ::close(fd_);
    unlink(temporary.c_str());
    throw;
  }
}

NpyFile::~NpyFile() {
  if (fd_ >= 0) ::close(fd_);
}

void NpyFile::append(const void* row) {
  if (buffer_.empty()) {
    put(row, row_bytes_);
    return;
  }
  if (buffered_ + row_bytes_ > buffer_.size()) drain();
  std::memcpy(buffer_.data() + buffered_, row, row_bytes_);
  buffered_ += row_bytes_;
}

void NpyFile::drain() {
  if (buffered_ == 0) return;
  put(buffer_.data(), buffered_);
  buffered_ = 0;
}

void NpyFile::commit(std::int64_t rows) {
  const std::string header = npy_header(descr_, rows, row_shape_);
  ssize_t written = 0;
  do {
    written = pwrite(fd_, header.data(), header.size(), 0);
  } while (written < 0 && errno == EINTR);
  if (written != static_cast<ssize_t>(header.size())) fail();
}

void NpyFile::close() {
  const int fd = fd_;
  fd_ = -1;
  if (::close(fd) != 0) fail();
}

void NpyFile::put(const void* data, std::size_t size) {
  errno = write_all(fd_, data, size);
  if (errno != 0) fail();
  written_ += static_cast<std::int64_t>(size);
}

void NpyFile::fail() const { fail_to_write(path_, errno, "choose another -o"); }

}  // namespace saccade
