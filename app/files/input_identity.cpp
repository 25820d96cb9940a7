#include "app/files/input_identity.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "app/files/sha256.h"
#include "pipeline/secrets.h"
#include "pipeline/source/frame/input_name.h"

namespace saccade {
namespace {

constexpr std::int64_t kAtOnceBytes = std::int64_t{64} << 20;
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

constexpr const char* kPatternHash = "pattern";  // made by what the uri says, always the same

// Empty when stopped, or when the file can't be read.
std::string sha256(const std::string& path, const std::stop_token& stop) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  Sha256 digest;
  std::vector<unsigned char> piece(kPieceBytes);
  ssize_t got = 0;
  while (!stop.stop_requested() && (got = read(fd, piece.data(), piece.size())) > 0) {
    digest.add(piece.data(), static_cast<std::size_t>(got));
  }
  close(fd);
  if (stop.stop_requested() || got < 0) return {};
  return digest.hexadecimal();
}

bool is_regular(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

}  // namespace

std::string file_sha256(const std::string& path) { return sha256(path, {}); }

std::string regular_file(const std::string& uri) {
  if (uri != "-" && is_regular(uri)) return uri;
  const std::string scheme = "file:";
  if (uri.compare(0, scheme.size(), scheme) != 0) return {};
  std::string path = uri.substr(scheme.size());
  if (path.compare(0, 2, "//") == 0) path = path.substr(2);
  return is_regular(path) ? path : std::string{};
}

bool can_be_read_again(const std::string& uri) {
  return !regular_file(uri).empty() || uri.starts_with("http://") || uri.starts_with("https://");
}

std::string folder_name(const std::string& uri) {
  if (uri == "-") return "stdin";
  std::string rest = uri;
  if (regular_file(uri).empty()) {
    rest = masked_uri(rest);
    rest = rest.substr(0, rest.find_first_of("?#"));
    if (names_graph(rest)) return "lavfi";
    if (names_screen(rest)) return "screen";
  }
  while (!rest.empty() && rest.back() == '/') rest.pop_back();
  rest = rest.substr(rest.rfind('/') + 1);
  return rest.empty() || rest == "." || rest == ".." ? "input" : rest;
}

InputHash::InputHash(const std::string& uri, bool wanted) {
  const std::string path = regular_file(uri);
  identity_.uri = masked_uri(uri);
  if (path.empty()) {
    identity_.name = identity_.uri;
    const bool pattern = names_test(uri) || names_graph(uri);
    identity_.sha256 = pattern ? kPatternHash : kStreamHash;
    return;
  }
  identity_.name = std::filesystem::path(path).filename().string();
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) return;
  identity_.size = static_cast<std::int64_t>(size);
  if (!wanted) return;
  if (*identity_.size <= kAtOnceBytes) {
    identity_.sha256 = sha256(path, {});
    return;
  }
  std::promise<std::string> promise;
  pending_ = promise.get_future();
  thread_ = std::jthread([path, result = std::move(promise)](const std::stop_token& stop) mutable {
    result.set_value(sha256(path, stop));
  });
}

bool InputHash::wait(std::chrono::milliseconds longest) {
  return !pending_.valid() || pending_.wait_for(longest) == std::future_status::ready;
}

const InputIdentity& InputHash::now() { return wait(std::chrono::milliseconds(0)) ? finish() : identity_; }

const InputIdentity& InputHash::finish() {
  if (pending_.valid()) identity_.sha256 = pending_.get();
  return identity_;
}

}  // namespace saccade
