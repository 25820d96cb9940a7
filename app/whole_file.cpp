#include "app/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

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

}  // namespace

std::string replace_file(const std::string& path, std::initializer_list<std::string_view> parts) {
  const std::string temporary = path + ".tmp";
  int fault = write_parts(temporary, parts);
  if (fault == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) fault = errno;
  if (fault == 0) return "";
  std::remove(temporary.c_str());
  return std::strerror(fault);
}

std::string sync_to_disk(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::strerror(errno);
  const int fault =
      fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno;  // some file systems sync no folder
  close(fd);
  return fault == 0 ? "" : std::strerror(fault);
}

const char* writing_advice(std::string_view reason) {
  const auto says = [reason](int fault) { return reason.find(std::strerror(fault)) != reason.npos; };
  if (says(ENOSPC) || says(EDQUOT)) return "free some space";
  if (says(EACCES) || says(EPERM) || says(EROFS)) return "make the folder writable";
  if (says(ENOENT) || says(ENOTDIR)) return "see that the folder is there";
  return "check the disk";
}

}  // namespace saccade
