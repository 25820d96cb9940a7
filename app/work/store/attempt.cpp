#include "app/work/store/attempt.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "app/process_name.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;
constexpr int kTries = 100;

bool is_file_of(const std::string& path, int fd) {
  struct stat there {
  }, here{};
  return stat(path.c_str(), &there) == 0 && fstat(fd, &here) == 0 && there.st_ino == here.st_ino &&
         there.st_dev == here.st_dev;
}

// Locks an attempt that nobody holds; -1: somebody does, or the file system has no locks, and nothing is known. Another
// sweeper may have removed it before it was locked, and a process that lives may have made it again: then the lock is
// of a file that is gone.
int lock_if_dead(const std::string& path) {
  const std::string name = path + "/lock";
  const int fd = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return -1;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_file_of(name, fd)) return fd;
  close(fd);
  return -1;
}

double age_s(const std::string& path) {
  struct stat facts {};
  if (stat((path + "/lock").c_str(), &facts) != 0 && stat(path.c_str(), &facts) != 0) return 0;
  return static_cast<double>(std::time(nullptr) - facts.st_mtime);
}

}  // namespace

Attempt::Attempt(const std::string& store) : name_(process_name()), path_(store + "/attempts/" + name_) {
  const auto fail = [this](const std::string& reason) {
    throw Error(ErrorKind::kOutput, fmt::format("{}: could not be made: {}", path_, reason));
  };
  // Until it is locked, another process that starts may sweep it.
  for (int tries = 0; tries < kTries; ++tries) {
    std::error_code error;
    fs::create_directories(path_, error);
    if (error) fail(error.message());
    lock_ = open((path_ + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock_ < 0 && errno == ENOENT) continue;
    if (lock_ < 0) fail(std::strerror(errno));
    flock(lock_, LOCK_EX);
    if (is_file_of(path_ + "/lock", lock_)) return;
    close(lock_);
  }
  fail("others remove it again and again");
}

Attempt::~Attempt() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  close(lock_);
}

void Attempt::touch() const { futimens(lock_, nullptr); }

bool Attempt::is_alone() const {
  std::error_code error;
  for (fs::directory_iterator at(fs::path(path_).parent_path(), error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename() != name_) return false;
  }
  return true;
}

std::int64_t sweep_attempts(const std::string& store, bool others, double older_than_s) {
  const std::string own = host_name() + ".";
  std::int64_t removed = 0;
  std::error_code error;
  for (fs::directory_iterator at(store + "/attempts", error), end; !error && at != end; at.increment(error)) {
    const std::string path = at->path().string();
    const bool is_own = at->path().filename().string().starts_with(own);
    if (!is_own && !(others && age_s(path) >= older_than_s)) continue;
    const int lock = lock_if_dead(path);
    if (lock < 0) continue;
    std::error_code ignored;
    fs::remove_all(path, ignored);
    close(lock);  // not before: a process that just takes the name must see that it is gone
    ++removed;
  }
  return removed;
}

}  // namespace saccade
