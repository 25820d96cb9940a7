#include "app/work/commit/tar.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "app/files/read_file.h"
#include "app/files/whole_file.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::size_t kMostName = 100;
constexpr std::uint64_t kMostOctal = 077777777777;  // 11 digits

// POSIX.1-1988: name 0, mode 100, uid 108, gid 116, size 124, mtime 136, checksum 148, type 156, magic 257,
// version 263.
using Header = std::array<char, kBlock>;

void text(Header& header, std::size_t at, std::string_view value) {
  std::copy(value.begin(), value.end(), header.begin() + static_cast<std::ptrdiff_t>(at));
}

// Larger ones in GNU's form: a first byte of 128, then the number, big endian.
void put_size(Header& header, std::uint64_t size) {
  if (size <= kMostOctal) return text(header, 124, fmt::format("{:011o}", size));
  header[124] = static_cast<char>(0x80);
  for (int i = 0; i < 8; ++i) header[static_cast<std::size_t>(135 - i)] = static_cast<char>((size >> (8 * i)) & 0xFF);
}

}  // namespace

TarWriter::TarWriter(const std::string& path)
    : path_(path), fd_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (fd_ < 0) fail();
}

TarWriter::~TarWriter() {
  if (fd_ >= 0) close(fd_);
}

void TarWriter::fail() const { fail_to_write(path_, errno); }

void TarWriter::put(const void* data, std::size_t size) {
  digest_.add(data, size);
  at_ += size;
  if (const int fault = write_all(fd_, data, size); fault != 0) fail_to_write(path_, fault);
}

void TarWriter::put_header(const std::string& name, std::uint64_t size) {
  if (name.size() > kMostName) {
    throw Error(
        ErrorKind::kOutput,
        fmt::format("{}: the member {} has a name of {} bytes, and a tar's have at most {}; plan with shorter keys",
                    path_, name, name.size(), kMostName));
  }
  Header header{};
  text(header, 0, name);
  text(header, 100, "0000644");
  text(header, 108, "0000000");
  text(header, 116, "0000000");
  put_size(header, size);
  text(header, 136, "00000000000");
  text(header, 148, "        ");
  header[156] = '0';
  text(header, 257, std::string_view("ustar\0", 6));
  text(header, 263, "00");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  text(header, 148, fmt::format("{:06o}", sum));
  header[154] = 0;
  header[155] = ' ';
  put(header.data(), header.size());
}

void TarWriter::pad() {
  constexpr Header kZeros{};
  if (at_ % kBlock != 0) put(kZeros.data(), kBlock - at_ % kBlock);
}

TarWriter::Member TarWriter::add(const std::string& name, std::string_view data) {
  put_header(name, data.size());
  Member member{at_, data.size(), sha256_of(data)};
  put(data.data(), data.size());
  pad();
  return member;
}

TarWriter::Member TarWriter::add_file(const std::string& name, const std::string& path) {
  const auto facts = look_at(path);
  if (!facts) fail_to_read(path, ENOENT);
  put_header(name, facts->bytes);
  Member member{at_, facts->bytes, {}};
  Sha256 digest;
  read_pieces(path, 0, facts->bytes, [&](std::string_view piece) {
    digest.add(piece);
    put(piece.data(), piece.size());
  });
  if (at_ - member.offset != member.bytes) {
    throw Error(ErrorKind::kOutput, fmt::format("{}: it became shorter while it was read back", path));
  }
  member.sha256 = digest.hexadecimal();
  pad();
  return member;
}

void TarWriter::finish() {
  constexpr std::array<char, 2 * kBlock> kEnd{};
  put(kEnd.data(), kEnd.size());
  sha256_ = digest_.hexadecimal();
  if (fsync(fd_) != 0) fail();
  const int fd = fd_;
  fd_ = -1;
  if (close(fd) != 0) fail();
}

}  // namespace saccade
