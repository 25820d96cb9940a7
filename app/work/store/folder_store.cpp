#include "app/work/store/folder_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "app/files/read_file.h"
#include "app/files/whole_file.h"
#include "app/process/process_name.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path) { fail_to_write(path, errno); }

void write_whole(const std::string& path, const std::string& text, bool lasting) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_TRUNC, 0666);
  if (fd < 0) fail(path);
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t done = write(fd, text.data() + at, text.size() - at);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      const int fault = errno;
      close(fd);
      errno = fault;
      fail(path);
    }
    at += static_cast<std::size_t>(done);
  }
  if ((lasting && fsync(fd) != 0) || close(fd) != 0) fail(path);
}

void make_folders(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) fail_to_write(path, error.value());
}

void sync_folder(const std::string& path) {
  if (const int fault = sync_to_disk(path); fault != 0) fail_to_write(path, fault);
}

// Where the file system has no hard links. One that has neither these nor renaming that overwrites nothing is looked at
// first: of two that come at once the later one's marker counts, whose files are there, too.
bool rename_once(const std::string& draft, const std::string& path) {
  if (renameat2(AT_FDCWD, draft.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno == EEXIST) return false;
  if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP && errno != EPERM) fail(path);
  if (is_there(path)) return false;
  if (std::rename(draft.c_str(), path.c_str()) != 0) fail(path);
  return true;
}

bool name_once(const std::string& draft, const std::string& path) {
  if (link(draft.c_str(), path.c_str()) == 0) return true;
  if (errno == EEXIST) return false;
  if (errno != EPERM && errno != ENOTSUP && errno != EMLINK && errno != ENOSYS) fail(path);
  return rename_once(draft, path);
}

}  // namespace

std::string FolderStore::draft_of(const std::string& name) const {
  if (scratch_.empty()) return fmt::format("{}.{}.tmp", path(name), process_name());
  std::string draft = name;
  std::replace(draft.begin(), draft.end(), '/', '.');
  return fmt::format("{}/{}", scratch_, draft);
}

std::optional<std::vector<std::string>> FolderStore::names(const std::string& folder) {
  return list_folder(path(folder));
}

std::vector<StoreFile> FolderStore::files(const std::string& folder) {
  std::vector<StoreFile> files;
  for (std::string& name : list_folder(path(folder)).value_or(std::vector<std::string>{})) {
    if (const auto facts = look_at(path(folder) + "/" + name))
      files.push_back({std::move(name), facts->bytes, age_s(*facts)});
  }
  return files;
}

std::optional<std::string> FolderStore::read(const std::string& name, std::uint64_t offset, std::uint64_t most) {
  return read_file(path(name), offset, most);
}

void FolderStore::read_many(const std::vector<std::string>& names,
                            const std::function<void(const std::string&, const std::string&)>& each) {
  for (const std::string& name : names) {
    if (const auto text = read_file(path(name))) each(name, *text);
  }
}

bool FolderStore::read_pieces(const std::string& name, const std::function<void(std::string_view)>& on_piece) {
  return saccade::read_pieces(path(name), 0, UINT64_MAX, on_piece);
}

bool FolderStore::create(const std::string& name, const std::string& text, Lasting lasting) {
  const std::string target = path(name), draft = draft_of(name), folder = fs::path(target).parent_path();
  make_folders(folder);
  write_whole(draft, text, lasting == Lasting::kYes);
  const bool created = name_once(draft, target);
  unlink(draft.c_str());
  if (created && lasting == Lasting::kYes) sync_folder(folder);
  return created;
}

void FolderStore::put(const std::string& name, const std::string& text) {
  const std::string target = path(name), draft = draft_of(name);
  make_folders(fs::path(target).parent_path());
  write_whole(draft, text, false);
  if (std::rename(draft.c_str(), target.c_str()) != 0) fail(target);
}

void FolderStore::put_file(const std::string& name, const std::string& local) {
  const std::string target = path(name), folder = fs::path(target).parent_path();
  make_folders(folder);
  if (std::rename(local.c_str(), target.c_str()) != 0) fail(target);
  utimensat(AT_FDCWD, target.c_str(), nullptr, 0);  // gc leaves what is young
  sync_folder(folder);
}

void FolderStore::remove(const std::string& name) {
  std::error_code error;
  fs::remove(path(name), error);
  if (error) fail_to_write(path(name), error.value());
}

void FolderStore::make_folder(const std::string& name) { make_folders(path(name)); }

std::optional<std::string> FolderStore::local_copy(const std::string& name) {
  return is_there(path(name)) ? std::optional(path(name)) : std::nullopt;
}

}  // namespace saccade
