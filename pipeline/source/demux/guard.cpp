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
#include <utility>

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

OpenGuard::OpenGuard(AVFormatContext& format, const InputLocation& location, const SourceConfig& config,
                     ReadWatch& watch)
    : log_(config.log),
      uri_(config.uri),
      itself_(url_of(location)),
      folder_(folder_of(location)),
      is_pipe_(location.kind == InputKind::kPipe),
      network_(config.allow_network),
      open_(format.io_open),
      close_(format.io_close2),
      has_open_timeout_(config.live.open_timeout_s.has_value()),
      watch_(watch),
      connections_(config.live),
      limit_(config.max_pixels) {
  format.opaque = this;
  format.io_open = open_nested;
  format.io_close2 = close_nested;
}

OpenGuard::~OpenGuard() {
  if (owns_http_) avio_closep(&http_);
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
  if (!is_http(url)) return guard.open_(format, io, url, flags, options);
  return guard.open_http(*format, io, url, flags, options);
}

int OpenGuard::open_http(AVFormatContext& format, AVIOContext** io, const char* url, int flags,
                         AVDictionary** options) {
  const bool is_input = format.pb == nullptr && url == itself_;
  if (!is_input) end_opening(&format);
  Dictionary none;
  if (options == nullptr) options = none.get();
  const bool is_part = av_dict_get(*options, "end_offset", nullptr, 0) != nullptr;
  connections_.prepare(url, options, is_input);
  const int opened = open_(&format, io, url, flags, options);
  if (opened >= 0) connections_.note_open(**io, is_part);
  if (opened >= 0 && is_input) keep(format, **io);
  if (opened < 0 && !is_input) connections_.note_refusal(opened);
  return opened;
}

// FFmpeg closes what an input is read from when opening it fails, and how the connection ended would be lost. What is
// flagged as the caller's it leaves alone.
void OpenGuard::keep(AVFormatContext& format, AVIOContext& io) {
  http_ = &io;
  owns_http_ = true;
  length_bytes_ = std::max<std::int64_t>(avio_size(&io), 0);
  format.flags |= AVFMT_FLAG_CUSTOM_IO;
  if (connections_.resumes(io) && !has_open_timeout_) watch_.arm(connections_.patience_s());
}

void OpenGuard::end_opening(AVFormatContext* format) {
  if (format == nullptr || !std::exchange(owns_http_, false)) return;
  format->flags &= ~AVFMT_FLAG_CUSTOM_IO;
}

// An answer without a length ends in EIO, unless it came in chunks: then its last one is known.
bool OpenGuard::input_broke(const LinkNotes& link) const {
  if (http_ == nullptr || length_bytes_ > 0) return connections_.lost() > 0;
  if (http_->error == 0) return http_->eof_reached != 0 && link.answers_ended == 0;
  return http_->error != AVERROR(EIO) && http_->error != AVERROR_EXIT;
}

// After tries that failed FFmpeg knows no length.
bool OpenGuard::length_changed() const {
  if (!resumes()) return false;
  const std::int64_t now_bytes = avio_size(http_);
  return now_bytes > 0 && now_bytes != length_bytes_;
}

int OpenGuard::close_nested(AVFormatContext* format, AVIOContext* io) {
  if (format->opaque == nullptr) return avio_close(io);  // as in open_nested()
  auto& guard = *static_cast<OpenGuard*>(format->opaque);
  guard.connections_.note_close(*io);
  return guard.close_(format, io);
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
