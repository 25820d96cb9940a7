#include "app/dump/dump_target.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>

#include "app/dump/meta.h"
#include "app/dump/views/views_files.h"
#include "app/files/read_file.h"
#include "app/options/origins.h"
#include "pipeline/error.h"
#include "pipeline/options/stream_options.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;

// In the order in which an old dump loses them: without its manifest it is incomplete, without arrays still a dump.
constexpr std::array<std::string_view, 8> kOwnFiles = {"manifest.json", "patches.npy", "geometry.npy", "changed.npy",
                                                       "index.npy",     "live.npy",    "pointer.npy",  "offsets.npy"};
constexpr std::string_view kMetaFile = "meta.json";
constexpr std::string_view kTemporary = ".tmp";

enum class Content : std::uint8_t { kNothing, kIncomplete, kComplete };

[[noreturn]] void fail(const std::string& directory, const char* action, const std::error_code& error) {
  throw Error(ErrorKind::kOutput, fmt::format("{}: {}: {}; choose another -o", directory, action, error.message()));
}

bool is_our_temporary(std::string_view file) {
  if (file.size() <= kTemporary.size() || file.substr(file.size() - kTemporary.size()) != kTemporary) return false;
  file.remove_suffix(kTemporary.size());
  return file == kMetaFile || std::find(kOwnFiles.begin(), kOwnFiles.end(), file) != kOwnFiles.end();
}

bool holds_only_temporaries(const std::string& directory) {
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    if (!is_our_temporary(at->path().filename().string())) return false;
  }
  if (error) fail(directory, "can't be read", error);
  return true;
}

bool is_ours(const Json& json) { return json.is_object() && json.contains("format") && json["format"] == kDumpFormat; }

Content look(const std::string& directory, Json& meta) {
  std::error_code error;
  const fs::file_status status = fs::status(directory, error);
  if (status.type() == fs::file_type::not_found) return Content::kNothing;
  if (status.type() == fs::file_type::none) fail(directory, "can't be looked at", error);
  if (status.type() != fs::file_type::directory) {
    throw UsageError(OfOption("output", directory), "is a file; a dump needs a folder");
  }
  meta = read_json(directory + "/meta.json");
  if (is_ours(meta)) {
    return is_there(directory + "/manifest.json") ? Content::kComplete : Content::kIncomplete;
  }
  if (holds_only_temporaries(directory)) return Content::kNothing;
  throw UsageError(OfOption("output", directory),
                   "the folder holds other things than a dump and is left alone; choose another -o");
}

std::string show(const Json& value) { return value.is_null() ? "unset" : json_text(value, -1); }

// What a dump says of its options, by the names that they have now.
Json recorded_options_of(const Json& old) {
  const Json recorded = old.value("options", Json::object());
  Json options = Json::object();
  for (const auto& item : recorded.items()) options[std::string(current_option(item.key()))] = item.value();
  return options;
}

// Names the first thing in which two identities differ; empty: none.
std::string difference(const Json& old, const Json& wanted) {
  for (const char* key : {"schema", "saccade"}) {
    if (old.value(key, Json()) != wanted[key])
      return fmt::format("{} {} there, {} here", key, show(old.value(key, Json())), show(wanted[key]));
  }
  const Json old_input = old.value("input", Json::object());
  for (const char* key : {"name", "size", "sha256"}) {
    const Json there = old_input.value(key, Json());
    const Json here = wanted["input"].value(key, Json());
    const bool unknown = std::string_view(key) == "sha256" && (there.is_null() || here.is_null());
    if (!unknown && there != here) return fmt::format("input {} {} there, {} here", key, show(there), show(here));
  }
  if (old.value("fixation_sha256", Json()) != wanted["fixation_sha256"]) return "another --fixation file";
  const Json old_options = recorded_options_of(old);
  const Json& options = wanted["options"];
  for (const auto& both : {std::cref(options), std::cref(old_options)}) {
    for (const auto& item : both.get().items()) {
      const Json there = old_options.value(item.key(), Json());
      const Json here = options.value(item.key(), Json());
      if (there != here) return fmt::format("{} {} there, {} here", flag_of(item.key()), show(there), show(here));
    }
  }
  return {};
}

void remove_file(const std::string& directory, std::string_view file) {
  std::error_code error;
  const fs::path path = fs::path(directory) / file;
  fs::remove(path, error);
  if (error) fail(path.string(), "could not be removed", error);
}

}  // namespace

TargetAction decide_target(const std::string& directory, const DumpOptions& options, const Json& wanted) {
  Json meta;
  const Content content = look(directory, meta);
  if (content == Content::kNothing || options.overwrite) return TargetAction::kWrite;
  const bool complete = content == Content::kComplete;
  if (!options.resume) {
    throw UsageError(OfOption("output", directory),
                     fmt::format("holds {} dump; add --overwrite to replace it, or --resume to {}",
                                 complete ? "a complete" : "an incomplete",
                                 complete ? "keep it if it is of the same input and options"
                                          : "redo it with the same input and options"));
  }
  // As JSON text and back: the way the old one went.
  const std::string differs = difference(meta, Json::parse(json_text(wanted, -1)));
  if (!differs.empty()) {
    throw UsageError(
        OfOption("resume"),
        fmt::format("{} is a dump of something else ({}); choose another -o, or --overwrite it", directory, differs));
  }
  if (complete && wanted["input"]["sha256"] == kStreamHash) {
    throw UsageError(OfOption("resume"), fmt::format("{} is complete, but whether {} still gives the same can't be "
                                                     "told; choose another -o, or --overwrite it",
                                                     directory, wanted["input"]["name"].get<std::string>()));
  }
  return complete ? TargetAction::kSkip : TargetAction::kWrite;
}

TargetLock::~TargetLock() {
  if (fd_ >= 0) close(fd_);
}

void TargetLock::take(const std::string& directory) {
  if (held()) return;
  const int fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 && errno != ENOENT && errno != ENOTDIR) fail_to_read(directory, errno);
  if (fd < 0) return;  // what is wrong with it comes out where it is written
  if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(fd);
    throw UsageError(
        fmt::format("-o {}: another run is writing there; wait for its end, or choose another -o", directory));
  }
  fd_ = fd;
}

std::string TargetLock::where(const std::string& directory) const {
  struct stat held {
  }, named{};
  if (fd_ < 0 || fstat(fd_, &held) != 0) return directory;
  const bool is_there =
      stat(directory.c_str(), &named) == 0 && named.st_dev == held.st_dev && named.st_ino == held.st_ino;
  if (is_there) return directory;
  std::error_code error;
  const fs::path now = fs::read_symlink(fmt::format("/proc/self/fd/{}", fd_), error);
  return error ? directory : now.string();
}

void prepare_target(const std::string& directory, const DumpOptions& options, TargetLock& lock) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) fail(directory, "could not be made", error);
  if (!lock.held()) {
    lock.take(directory);
    Json ignored;
    if (!options.overwrite && look(directory, ignored) != Content::kNothing) {
      throw UsageError(
          fmt::format("-o {}: another run wrote there meanwhile; choose another -o, or add --overwrite", directory));
    }
  }
  for (const std::string_view file : kOwnFiles) remove_file(directory, file);
  for (const std::string_view file : kOwnFiles) remove_file(directory, std::string(file) + std::string(kTemporary));
  remove_views(directory);
}

}  // namespace saccade
