#include "app/files/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "pipeline/error.h"

namespace saccade {
namespace {

// 0, or errno.
int write_parts(const std::string& path, std::initializer_list<std::string_view> parts) {
  errno = 0;
  std::FILE* file = std::fopen(path.c_str(), "wbe");
  if (file == nullptr) return errno;
  int fault = 0;
  for (const std::string_view part : parts) {
    if (fault == 0 && std::fwrite(part.data(), 1, part.size(), file) != part.size()) fault = errno != 0 ? errno : EIO;
  }
  if (std::fclose(file) != 0 && fault == 0) fault = errno;
  return fault;
}

std::string_view advice_on(int fault) {
  if (fault == ENOSPC || fault == EDQUOT) return "free some space";
  if (fault == EACCES || fault == EPERM || fault == EROFS) return "give this user the right to write there";
  return {};
}

}  // namespace

int replace_file(const std::string& path, std::initializer_list<std::string_view> parts) {
  const std::string temporary = path + ".tmp";
  int fault = write_parts(temporary, parts);
  if (fault == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) fault = errno;
  if (fault != 0) std::remove(temporary.c_str());
  return fault;
}

int write_all(int fd, const void* data, std::size_t size) {
  for (const char* at = static_cast<const char*>(data); size > 0;) {
    const ssize_t done = write(fd, at, size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    at += done;
    size -= static_cast<std::size_t>(done);
  }
  return 0;
}

int sync_to_disk(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  const int fault =
      fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno;  // some file systems sync no folder
  close(fd);
  return fault;
}

void fail_to_write(const std::string& path, int fault, std::string_view other) {
  std::string advice(advice_on(fault));
  if (!advice.empty() && !other.empty()) advice += " or ";
  advice += other;
  throw Error(ErrorKind::kOutput, fmt::format("{}: could not be written: {}{}{}", path, std::strerror(fault),
                                              advice.empty() ? "" : "; ", advice));
}

}  // namespace saccade
