#include "pipeline/source/demux/guard.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <mutex>
#include <set>
#include <span>
#include <string_view>
#include <system_error>

#include "pipeline/secrets.h"

extern "C" {
#include <libavutil/mem.h>
}

namespace saccade {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFile = "file:";
constexpr std::int64_t kLeastLimit = std::int64_t{256} << 20;
constexpr std::int64_t kBytesAPixel = 8;
constexpr std::size_t kFfmpegsLimit = std::numeric_limits<int>::max();
constexpr std::array<std::string_view, 7> kNetwork = {"http", "https", "httpproxy", "tls", "tcp", "udp", "rtp"};

std::string path_of(const std::string& url) { return url.starts_with(kFile) ? url.substr(kFile.size()) : url; }

// The folder of a local file, links resolved. Pictures of a sequence are what the user named, and open nothing.
std::string folder_of(const InputLocation& location) {
  if (location.kind == InputKind::kPipe || location.kind == InputKind::kDevice) return "";
  if (location.sequence || !location.url.starts_with(kFile)) return "";
  std::error_code error;
  const fs::path folder = fs::weakly_canonical(fs::path(path_of(location.url)), error).parent_path();
  return error ? "" : folder.string();
}

bool lies_in(const std::string& folder, const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(fs::path(path), error);
  if (error) return false;
  const fs::path below = whole.lexically_relative(folder);
  return !below.empty() && *below.begin() != "..";
}

std::mutex limits_mutex;

// Of the inputs that are open. Never destroyed: an input may be closed while the process ends.
std::multiset<std::size_t>& limits() {
  static auto* const all = new std::multiset<std::size_t>;
  return *all;
}

}  // namespace

OpenGuard::OpenGuard(AVFormatContext& format, const InputLocation& location, const SourceConfig& config)
    : log_(config.log),
      uri_(config.uri),
      itself_(url_of(location)),
      folder_(folder_of(location)),
      is_pipe_(location.kind == InputKind::kPipe),
      network_(config.allow_network),
      open_(format.io_open),
      limit_(config.max_pixels) {
  format.opaque = this;
  format.io_open = open_nested;
}

int OpenGuard::open_nested(AVFormatContext* format, AVIOContext** io, const char* url, int flags,
                           AVDictionary** options) {
  if (format->opaque == nullptr) return AVERROR(EACCES);  // a copy of our context's callback alone
  auto& guard = *static_cast<OpenGuard*>(format->opaque);
  if (!guard.allows(url)) {
    guard.refused_ = true;
    guard.log_.warn(
        "{}: wants to open '{}' and may not: it lies outside its folder, or needs the network, which is not allowed",
        guard.uri_, masked_uri(url));
    return AVERROR(EACCES);
  }
  return guard.open_(format, io, url, flags, options);
}

// What comes from the network is left to FFmpeg, which keeps it from files.
bool OpenGuard::allows(const std::string& url) const {
  if (url == itself_ || (folder_.empty() && !is_pipe_)) return true;
  const bool wrapped = url.starts_with("crypto+") || url.starts_with("crypto:");
  const std::string inner = wrapped ? url.substr(7) : url;
  const char* name = avio_find_protocol_name(inner.c_str());
  const std::string_view protocol = name != nullptr ? name : "";
  if (protocol == "file") return !folder_.empty() && lies_in(folder_, path_of(inner));
  return protocol == "data" || (network_ && std::find(kNetwork.begin(), kNetwork.end(), protocol) != kNetwork.end());
}

// For those of FFmpeg's demuxers that open what they name without asking.
std::string OpenGuard::protocols() const {
  if (!is_pipe_ && (folder_.empty() || !network_)) return "";
  std::string list = folder_.empty() ? "crypto,data" : "file,crypto,data";
  for (const std::string_view protocol : network_ ? std::span(kNetwork) : std::span(kNetwork).first(0)) {
    list += ',';
    list += protocol;
  }
  return list;
}

AllocationLimit::AllocationLimit(std::int64_t max_pixels)
    : bytes_(static_cast<std::size_t>(std::max(kLeastLimit, max_pixels * kBytesAPixel))) {
  const std::lock_guard lock(limits_mutex);
  limits().insert(bytes_);
  av_max_alloc(*limits().rbegin());
}

AllocationLimit::~AllocationLimit() {
  const std::lock_guard lock(limits_mutex);
  limits().erase(limits().find(bytes_));
  av_max_alloc(limits().empty() ? kFfmpegsLimit : *limits().rbegin());
}

}  // namespace saccade
