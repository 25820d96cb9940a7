// What a file may open besides itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "pipeline/source/demux/http.h"
#include "pipeline/source/demux/locate.h"
#include "pipeline/source/ffmpeg/av.h"
#include "pipeline/source/live/watch.h"

namespace saccade {

// FFmpeg has one limit of an allocation for a process, and no way to ask for it. The largest of all that live is in
// force, and FFmpeg's own when none does: one that the program had set is lost, as include/saccade/saccade.h says.
// Any thread.
class AllocationLimit {
 public:
  explicit AllocationLimit(std::int64_t max_pixels);
  ~AllocationLimit();
  AllocationLimit(const AllocationLimit&) = delete;
  AllocationLimit& operator=(const AllocationLimit&) = delete;

 private:
  const std::size_t bytes_;
};

// Note [Untrusted files]
// A playlist or manifest names other inputs. One that lies here may open files of its own folder and below, and nothing
// in the network unless SourceConfig::allow_network says so; what came through a pipe or the network opens no file at
// all (the latter by FFmpeg's own rule). A DASH manifest that lies here is refused: FFmpeg opens what it names without
// asking. Pictures over the limit of pixels are refused, and so is a single allocation of FFmpeg's of more than 8 bytes
// for each of them (256 MiB at least).
//
// Every connection of HTTP is opened and closed here as well: see Note [Broken answers].
class OpenGuard {
 public:
  // Installs itself in `format`, which must not outlive it, before that is opened. `watch`: of what `format` reads.
  OpenGuard(AVFormatContext& format, const InputLocation& location, const SourceConfig& config, ReadWatch& watch);
  ~OpenGuard();
  OpenGuard(const OpenGuard&) = delete;
  // After avformat_open_input(). `format`: null where that failed.
  void end_opening(AVFormatContext* format);
  // Of the input itself, also where opening it came to nothing: what it is read from over HTTP (null: it is not), the
  // bytes that the server announced (0: none), and whether the connection has broken.
  AVIOContext* http() const { return http_; }
  std::int64_t length_bytes() const { return length_bytes_; }
  bool input_broke(const LinkNotes& link) const;
  bool length_changed() const;  // when the rest was asked for
  bool resumes() const { return http_ != nullptr && connections_.resumes(*http_); }
  HttpConnections& connections() { return connections_; }
  const HttpConnections& connections() const { return connections_; }
  bool has_refused() const { return refused_; }
  bool is_local() const { return !folder_.empty(); }  // the input is a file
  std::string protocols() const;                      // for FFmpeg's protocol_whitelist; empty: its own choice

 private:
  using Open = int (*)(AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**);
  using Close = int (*)(AVFormatContext*, AVIOContext*);
  static int open_nested(AVFormatContext* format, AVIOContext** io, const char* url, int flags, AVDictionary** options);
  static int close_nested(AVFormatContext* format, AVIOContext* io);
  int open_http(AVFormatContext& format, AVIOContext** io, const char* url, int flags, AVDictionary** options);
  void keep(AVFormatContext& format, AVIOContext& io);
  bool allows(const std::string& url) const;

  const Log log_;
  const std::string uri_;     // as it may be shown: Note [Secrets] in secrets.h
  const std::string itself_;  // FFmpeg's URL of it
  const std::string folder_;  // canonical; empty: the input is no local file
  const bool is_pipe_;
  const bool network_;
  bool refused_ = false;
  const Open open_;
  const Close close_;
  const bool has_open_timeout_;
  ReadWatch& watch_;
  HttpConnections connections_;
  AVIOContext* http_ = nullptr;
  bool owns_http_ = false;  // until the input is open
  std::int64_t length_bytes_ = 0;
  const AllocationLimit limit_;
};

}  // namespace saccade
