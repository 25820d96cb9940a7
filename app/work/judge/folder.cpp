#include "app/work/judge/folder.h"

#include <filesystem>
#include <system_error>

#include "pipeline/secrets.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;
constexpr int kMostLinks = 40;  // as the kernel follows
constexpr std::string_view kFile = "file:";

bool is_url(const std::string& uri) { return uri.find("://") != std::string::npos && !uri.starts_with(kFile); }

// A bucket, or the folder below a scheme that has no host.
std::string bucket_of(const std::string& uri) {
  const std::string shown = masked_uri(uri);
  const std::size_t host = shown.find("://") + 3, end = shown.find_first_of("/?#", host);
  return shown.substr(0, end == host ? shown.rfind('/') : end);
}

std::string url_folder(const WorkItem& item) { return is_fetched(item.uri) ? bucket_of(item.uri) : kNetwork; }

fs::path path_of(const std::string& uri) {
  if (!uri.starts_with(kFile)) return uri;
  const std::string path = uri.substr(kFile.size());
  return path.starts_with("//") ? path.substr(2) : path;
}

}  // namespace

std::string written_folder(const WorkItem& item) {
  return is_url(item.uri) ? url_folder(item) : path_of(item.uri).lexically_normal().parent_path().string();
}

std::string folder_of(const WorkItem& item) {
  if (is_url(item.uri)) return url_folder(item);
  fs::path path = path_of(item.uri);
  std::error_code error;
  for (int i = 0; i < kMostLinks; ++i) {
    const fs::path target = fs::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / target;
  }
  const fs::path folder = fs::weakly_canonical(path.parent_path(), error);
  return (error ? path.lexically_normal().parent_path() : folder).string();
}

}  // namespace saccade
