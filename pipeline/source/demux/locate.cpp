#include "pipeline/source/demux/locate.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "pipeline/error.h"
#include "pipeline/secrets.h"
#include "pipeline/source/ffmpeg/av.h"
#include "pipeline/source/frame/input_name.h"

namespace saccade {
namespace {

// "http", "rtsp" ... of "http://host"; empty where there is no scheme of two letters or more.
std::string_view scheme_of(std::string_view uri) {
  const std::size_t colon = uri.find(':');
  if (colon == std::string_view::npos || colon < 2) return {};
  for (const char c : uri.substr(0, colon)) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '+' && c != '-' && c != '.') return {};
  }
  return uri.substr(0, colon);
}

bool is_known_protocol(std::string_view scheme) {
  void* cursor = nullptr;
  while (const char* protocol = avio_enum_protocols(&cursor, 0)) {
    if (scheme == protocol) return true;
  }
  return scheme == "rtsp" || scheme == "rtsps" || scheme == "sdp";  // demuxers that open sockets by themselves
}

InputKind kind_of(std::string_view scheme) {
  if (scheme == "pipe") return InputKind::kPipe;
  for (const char* local : {"async", "bluray", "cache", "concat", "concatf", "crypto", "data", "subfile"}) {
    if (scheme == local) return InputKind::kFile;
  }
  return InputKind::kNetwork;
}

void check_file(const std::string& uri, const std::string& path, const struct stat& status) {
  if (S_ISDIR(status.st_mode)) {
    throw InputError(
        fmt::format("{}: is a directory, not a video; name a file in it, or pictures as 'DIR/*.png'", uri));
  }
  if (access(path.c_str(), R_OK) != 0) {
    const int fault = errno;
    throw InputError(fmt::format("{}: can't be read: {}; check its permissions", uri, std::strerror(fault)),
                     Hint::kNone, fault);
  }
  if (S_ISREG(status.st_mode) && status.st_size == 0) {
    throw InputError(fmt::format("{}: the file is empty (0 bytes); was the download or copy finished?", uri));
  }
}

}  // namespace

std::string url_of(const InputLocation& location) {
  if (location.begin_byte == 0) return location.url;
  return fmt::format("subfile,,start,{},end,0,,:{}", location.begin_byte, location.url);
}

InputLocation locate_input(const std::string& uri) {
  InputLocation location;
  if (uri.empty()) throw InputError("the input's name is empty; give a file, a URL, lavfi:GRAPH or test://NAME");
  if (uri == "-") return {"pipe:0", "", InputKind::kPipe};
  if (names_graph(uri)) return {uri.substr(kGraphScheme.size()), "lavfi", InputKind::kGraph};
  if (uri.starts_with("v4l2://")) return {uri.substr(7), "video4linux2", InputKind::kDevice};

  struct stat status {};
  std::string path = uri;
  if (stat(path.c_str(), &status) != 0 && uri.starts_with("file:")) {
    path = uri.substr(5);
    if (path.starts_with("///")) path.erase(0, 2);
  }
  if (stat(path.c_str(), &status) == 0) {
    check_file(uri, path, status);
    if (S_ISCHR(status.st_mode) && path.starts_with("/dev/video")) {
      return {path, "video4linux2", InputKind::kDevice};
    }
    if (S_ISFIFO(status.st_mode)) return {"file:" + path, "", InputKind::kPipe};
    return {"file:" + path, ""};
  }
  const int fault = errno;
  const std::string_view scheme = scheme_of(uri);
  if (scheme != "file" && is_known_protocol(scheme)) return {uri, "", kind_of(scheme)};
  if (uri.find("://") != std::string::npos && scheme != "file") {
    throw InputError(fmt::format("{}: FFmpeg here knows no protocol '{}'; try a file, http, https, rtsp or udp",
                                 masked_uri(uri), scheme));
  }
  if (std::optional<ImageSequence> sequence = find_sequence(path)) {
    location.url = sequence->pattern;
    location.format = "image2";
    location.sequence = std::move(sequence);
    return location;
  }
  throw InputError(fmt::format("{}: {}; check the name", masked_uri(uri), std::strerror(fault)), Hint::kNone, fault);
}

bool is_playlist(const AVFormatContext& format) {
  const std::string_view demuxer = format.iformat->name;
  return demuxer.find("hls") != std::string_view::npos || demuxer.find("dash") != std::string_view::npos;
}

bool may_be_live(const InputLocation& location, const LiveConfig& config) {
  if (location.kind == InputKind::kPipe) return config.assume_live;
  return location.kind == InputKind::kDevice || location.kind == InputKind::kNetwork;
}

bool is_live(const AVFormatContext& format, const InputLocation& location, const LiveConfig& config) {
  if (!may_be_live(location, config)) return false;
  if (location.kind != InputKind::kNetwork) return true;
  if (format.duration != AV_NOPTS_VALUE) return false;
  if (is_playlist(format)) return false;
  return format.pb == nullptr || avio_size(format.pb) <= 0;
}

}  // namespace saccade
