#include "app/files/read_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "app/files/sha256.h"
#include "pipeline/error.h"

namespace saccade {
namespace {

constexpr int kTries = 4;
constexpr auto kPause = std::chrono::seconds(1);  // then twice as long each time
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
constexpr std::int64_t kSecond_ns = 1'000'000'000;

bool is_absent(int fault) { return fault == ENOENT || fault == ENOTDIR; }

// What no waiting cures.
bool lasts(int fault) {
  constexpr std::array kLasting = {EACCES, EPERM, ENOENT, ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG, EINVAL};
  return std::find(kLasting.begin(), kLasting.end(), fault) != kLasting.end();
}

// Takes a step that returns 0 or an errno, some times where that may help. Returns the last one.
template <typename Step>
int insist(const Step& step) {
  for (int tries = 1;; ++tries) {
    const int fault = step();
    if (fault == 0 || lasts(fault) || tries == kTries) return fault;
    std::this_thread::sleep_for(kPause * (1 << (tries - 1)));
  }
}

class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int fd() const { return fd_; }

 private:
  const int fd_;
};

// From `offset` on; `offset` and `most` go on with what was read.
int read_rest(const std::string& path, std::uint64_t& offset, std::uint64_t& most, std::string& piece,
              const std::function<void(std::string_view)>& on_piece) {
  const OpenFile file(path);
  if (file.fd() < 0) return errno;
  if (offset > 0 && lseek(file.fd(), static_cast<off_t>(offset), SEEK_SET) < 0) return errno;
  while (most > 0) {
    const ssize_t got = read(file.fd(), piece.data(), std::min<std::uint64_t>(piece.size(), most));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) break;
    on_piece(std::string_view(piece.data(), static_cast<std::size_t>(got)));
    offset += static_cast<std::uint64_t>(got);
    most -= static_cast<std::uint64_t>(got);
  }
  return 0;
}

}  // namespace

void fail_to_read(const std::string& path, int fault) {
  const bool refused = fault == EACCES || fault == EPERM;
  throw Error(ErrorKind::kOutput, fmt::format("{}: could not be read: {}{}", path, std::strerror(fault),
                                              refused ? "; give this user the right to read it" : ""));
}

bool read_pieces(const std::string& path, std::uint64_t offset, std::uint64_t most,
                 const std::function<void(std::string_view)>& on_piece) {
  std::string piece(std::min<std::uint64_t>(kPieceBytes, most), 0);
  const std::uint64_t begin = offset;
  const int fault = insist([&] { return read_rest(path, offset, most, piece, on_piece); });
  if (is_absent(fault) && offset == begin) return false;
  if (fault != 0) fail_to_read(path, fault);
  return true;
}

std::optional<std::string> read_file(const std::string& path, std::uint64_t offset, std::uint64_t most) {
  std::string text;
  if (!read_pieces(path, offset, most, [&text](std::string_view piece) { text += piece; })) return std::nullopt;
  return text;
}

std::optional<std::string> hash_file(const std::string& path) {
  Sha256 digest;
  if (!read_pieces(path, 0, UINT64_MAX, [&digest](std::string_view piece) { digest.add(piece); })) return std::nullopt;
  return digest.hexadecimal();
}

double age_s(const FileFacts& facts) {
  using std::chrono::system_clock;
  const auto now_ns = std::chrono::nanoseconds(system_clock::now().time_since_epoch()).count();
  return static_cast<double>(now_ns - facts.written_ns) / static_cast<double>(kSecond_ns);
}

std::optional<FileFacts> look_at(const std::string& path) {
  struct stat facts {};
  const int fault = insist([&] { return stat(path.c_str(), &facts) == 0 ? 0 : errno; });
  if (is_absent(fault)) return std::nullopt;
  if (fault != 0) fail_to_read(path, fault);
  return FileFacts{static_cast<std::uint64_t>(facts.st_size),
                   facts.st_mtim.tv_sec * kSecond_ns + facts.st_mtim.tv_nsec};
}

std::optional<std::vector<std::string>> list_folder(const std::string& path) {
  std::vector<std::string> names;
  const int fault = insist([&] {
    names.clear();
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(path.c_str()), closedir);
    if (folder == nullptr) return errno;
    errno = 0;
    while (const dirent* entry = readdir(folder.get())) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
      errno = 0;
    }
    return errno;
  });
  if (fault == ENOENT) return std::nullopt;
  if (fault != 0) fail_to_read(path, fault);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace saccade
