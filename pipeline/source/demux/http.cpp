#include "pipeline/source/demux/http.h"

#include <algorithm>
#include <cmath>

#include "pipeline/source/live/watch.h"

extern "C" {
#include <libavutil/opt.h>
}

namespace saccade {
namespace {

// FFmpeg waits 0, 1, 3, 7 ... s before its tries, and tries while a wait is no longer than this.
constexpr int kDelayMax_s = 3;
constexpr double kMargin_s = 5;
constexpr const char* kPassing = "429,5xx";  // what a server answers for a while

int delay_max_s(const LiveConfig& config) {
  return static_cast<int>(std::clamp<double>(config.reconnect_delay_max_s, 0, kDelayMax_s));
}

int tries_within(int delay_max_s) {
  int tries = 0;
  for (int delay_s = 0; delay_s <= delay_max_s; delay_s = 1 + 2 * delay_s) ++tries;
  return tries;
}

double waits_s(int delay_max_s) {
  double all_s = 0;
  for (int delay_s = 0; delay_s <= delay_max_s; delay_s = 1 + 2 * delay_s) all_s += delay_s;
  return all_s;
}

bool is_encrypted(std::string_view url) { return url.starts_with("crypto+") || url.starts_with("crypto:"); }

// The server's first answer is waited for as long as a connection may be silent.
double silence_of(const LiveConfig& config) {
  const double stall_s = config.stall_timeout_s.value_or(kNetworkTimeout_s);
  const double open_s = config.open_timeout_s.value_or(stall_s);
  return stall_s > 0 && open_s > 0 ? std::max(stall_s, open_s) : 0;
}

bool broke(const AVIOContext& io) { return io.error < 0 && io.error != AVERROR_EXIT; }

// What a server says of the file itself: it isn't there, or not for everybody.
bool is_final(int code) {
  return code == AVERROR_HTTP_BAD_REQUEST || code == AVERROR_HTTP_UNAUTHORIZED || code == AVERROR_HTTP_FORBIDDEN ||
         code == AVERROR_HTTP_NOT_FOUND || code == AVERROR_EXIT;
}

}  // namespace

bool is_http(std::string_view url) {
  if (is_encrypted(url)) url.remove_prefix(7);
  return url.starts_with("http:") || url.starts_with("https:");
}

HttpConnections::HttpConnections(const LiveConfig& config)
    : tries_(config.reconnect > 0 ? tries_within(delay_max_s(config)) : 0),
      delay_max_s_(delay_max_s(config)),
      silence_s_(silence_of(config)) {}

// Each try may take as many tries to connect. All of them, or a second silence, end within the 30 s that `work` waits
// for a frame.
double HttpConnections::patience_s() const {
  if (silence_s_ <= 0 || tries_ == 0) return silence_s_;
  return std::max(2 * silence_s_, (tries_ + 1) * waits_s(delay_max_s_)) + kMargin_s;
}

// What lies below a decryption can't be reached later on.
void HttpConnections::prepare(const char* url, AVDictionary** options, bool is_input) const {
  if (silence_s_ > 0) av_dict_set_int(options, "rw_timeout", std::llround(silence_s_ * 1e6), 0);
  if (is_input || tries_ == 0) return;
  av_dict_set_int(options, "reconnect_delay_max", delay_max_s_, 0);
  av_dict_set_int(options, "reconnect_on_network_error", 1, 0);
  av_dict_set(options, "reconnect_on_http_error", kPassing, 0);
  const bool is_part = av_dict_get(*options, "end_offset", nullptr, 0) != nullptr;
  if (is_encrypted(url) && !is_part) av_dict_set_int(options, "reconnect", 1, 0);
}

void HttpConnections::note_open(AVIOContext& io, bool is_part) {
  any_ = true;
  if (avio_size(&io) <= 0) return;
  sized_.insert(&io);
  if (is_part || tries_ == 0 || (io.seekable & AVIO_SEEKABLE_NORMAL) == 0) return;
  if (av_opt_set_int(&io, "reconnect", 1, AV_OPT_SEARCH_CHILDREN) < 0) return;
  resuming_.insert(&io);
  // A seek opens another connection.
  av_opt_set_int(&io, "reconnect_delay_max", delay_max_s_, AV_OPT_SEARCH_CHILDREN);
  av_opt_set_int(&io, "reconnect_on_network_error", 1, AV_OPT_SEARCH_CHILDREN);
  av_opt_set(&io, "reconnect_on_http_error", kPassing, AV_OPT_SEARCH_CHILDREN);
}

void HttpConnections::note_refusal(int code) {
  any_ = true;
  lost_ += is_final(code) ? 0 : 1;
}

// One that FFmpeg opened without asking, as for DASH, still knows its length here.
void HttpConnections::note_close(AVIOContext& io) {
  const bool sized = sized_.erase(&io) > 0 || avio_size(&io) > 0;
  resuming_.erase(&io);
  if (sized && broke(io)) ++lost_;
}

void HttpConnections::forget() {
  lost_ = 0;
  for (AVIOContext* io : sized_) io->error = 0;
}

int HttpConnections::lost() const {
  const auto open = std::count_if(sized_.begin(), sized_.end(), [](const AVIOContext* io) { return broke(*io); });
  return lost_ + static_cast<int>(open);
}

}  // namespace saccade
