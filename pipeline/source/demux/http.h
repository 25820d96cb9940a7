// What is done when a connection of HTTP breaks.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "pipeline/source/ffmpeg/av.h"
#include "pipeline/source/frame/frame_source.h"

namespace saccade {

// Whether FFmpeg's HTTP reads it, also below its decryption of playlists.
bool is_http(std::string_view url);

// Note [Broken answers]
// An answer of HTTP may end before the length that it announced, be reset, or fall silent for the stall time-out. If
// the server takes byte ranges, FFmpeg's option "reconnect" asks for the rest: at once, after 1 s and after 3 s. The
// option is set once a connection is open: an input that can't be opened at all is refused at once, and an answer
// without a length ends in what FFmpeg takes for a break. A byte range of a playlist ends so, too, and is left out.
// What does not come even then is lost (StreamEnd::lost): the file may be whole, and another try may bring it.
class HttpConnections {
 public:
  explicit HttpConnections(const LiveConfig& config);

  // In the order of a connection's life. `options`: FFmpeg's, of the connection that is to be opened. is_input: it is
  // the input's own; else a playlist names it, and what can't be opened is tried again.
  void prepare(const char* url, AVDictionary** options, bool is_input) const;
  void note_open(AVIOContext& io, bool is_part);  // a byte range of a playlist
  void note_refusal(int code);
  void note_close(AVIOContext& io);
  void forget();  // what was lost before a seek

  bool any() const { return any_; }  // whether one was opened
  // Whether it can be asked for the rest.
  bool resumes(AVIOContext& io) const { return resuming_.contains(&io); }
  // How many connections did not bring all that they should have.
  int lost() const;
  int tries() const { return tries_; }             // to get the rest, in a row
  double silence_s() const { return silence_s_; }  // after which a connection counts as broken; 0: never
  double patience_s() const;                       // in which all tries have an end; 0: no limit

 private:
  const int tries_;
  const int delay_max_s_;
  const double silence_s_;
  std::set<AVIOContext*> sized_;     // that are open and announced their length
  std::set<AVIOContext*> resuming_;  // and take byte ranges
  bool any_ = false;
  int lost_ = 0;
};

}  // namespace saccade
