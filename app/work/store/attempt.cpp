#include "app/work/store/attempt.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>

#include "app/files/read_file.h"
#include "app/process/process_name.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;
constexpr int kTries = 100;

bool is_file_of(const std::string& path, int fd) {
  struct stat there {
  }, here{};
  if (stat(path.c_str(), &there) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return false;
    fail_to_read(path, errno);
  }
  return fstat(fd, &here) == 0 && there.st_ino == here.st_ino && there.st_dev == here.st_dev;
}

// Locks an attempt that nobody holds; -1: somebody does, another user's process may, or the file system has no locks,
// and nothing is known. Another sweeper may have removed it before it was locked, and a process that lives may have
// made it again: then the lock is of a file that is gone.
int lock_if_dead(const std::string& path) {
  const std::string name = path + "/lock";
  const int fd = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  const bool unknown = errno == EACCES || errno == EPERM || errno == EROFS || errno == ENOENT || errno == ENOTDIR;
  if (fd < 0 && !unknown) fail_to_read(name, errno);
  if (fd < 0) return -1;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_file_of(name, fd)) return fd;
  close(fd);
  return -1;
}

bool is_old(const std::string& path, double older_than_s) {
  auto facts = look_at(path + "/lock");
  if (!facts) facts = look_at(path);
  return facts && age_s(*facts) >= older_than_s;
}

}  // namespace

Attempt::Attempt(const std::string& root)
    : name_(fmt::format("{}.{:06x}", process_name(), std::random_device{}() & 0xFFFFFF)),
      path_(root + "/attempts/" + name_) {
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

std::vector<std::string> sweep_attempts(const std::string& root, const Sweep& sweep) {
  const std::string own = host_name() + ".", folder = root + "/attempts/";
  std::vector<std::string> dead;
  for (const std::string& name : list_folder(folder).value_or(std::vector<std::string>{})) {
    const std::string path = folder + name;
    if (!name.starts_with(own) && !(sweep.others && is_old(path, sweep.older_than_s))) continue;
    // Locking makes the file where there is none.
    const bool never_locked = sweep.dry_run && !is_there(path + "/lock");
    const int lock = never_locked ? -1 : lock_if_dead(path);
    if (lock < 0 && !never_locked) continue;
    std::error_code ignored;
    if (!sweep.dry_run) fs::remove_all(path, ignored);
    if (lock >= 0) close(lock);  // not before: a process that just takes the name must see that it is gone
    dead.push_back(name);
  }
  return dead;
}

}  // namespace saccade
