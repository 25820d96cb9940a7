#include "pipeline/source/demux/demuxer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <new>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "pipeline/clock.h"
#include "pipeline/error.h"
#include "pipeline/source/live/sleep_meter.h"
#include "pipeline/source/tags/ogg_links.h"

namespace saccade {
namespace {

constexpr auto kDevicePoll = std::chrono::milliseconds(1);
constexpr std::int64_t kFewStale = 4;  // packets that came late one by one, at the end of a stream

std::string silent_for(double seconds) { return fmt::format("nothing came for {:g} s", seconds); }

// Note [Ends inside a packet]
// Where an RTSP connection over TCP ends inside a packet, FFmpeg hands out the picture that its parser holds in place
// of the error, and then calls it the end. A whole stream has met its end before it hands that one out.
bool is_held_back(AVCodecID codec) { return codec == AV_CODEC_ID_H264 || codec == AV_CODEC_ID_HEVC; }

}  // namespace

Demuxer::Demuxer(const SourceConfig& config, const InputLocation& location, const FfmpegLog& log,
                 const std::atomic<bool>& interrupted, SourceCounters& counters)
    : config_(config),
      location_(location),
      log_(log),
      interrupted_(interrupted),
      counters_(counters),
      link_(log.link()),
      kind_(location.kind),
      input_(open_input(config, location, log, interrupted)),
      drop_late_(config.live.drop_late && !input_.sender_waits),
      answer_(input_.guard->http() != nullptr && input_.guard->length_bytes() == 0 && !is_playlist(*input_.format)) {}

int Demuxer::read(AVPacket& packet) {
  if (interrupted_) return AVERROR_EXIT;
  if (had_last_ || has_next_link()) return AVERROR_EOF;
  const int read = is_ogg() ? read_link(packet) : read_next(packet);
  if (read < 0) return read;
  if (input_.end_byte && packet.pos >= *input_.end_byte) {
    av_packet_unref(&packet);
    return AVERROR_EOF;
  }
  had_last_ = input_.last_pts && packet.pts >= *input_.last_pts;
  if (packets_++ == 0) begins_with_key_ = (packet.flags & AV_PKT_FLAG_KEY) != 0;
  if (packet.pos >= 0) {
    last_begin_byte_ = packet.pos;
    last_end_byte_ = packet.pos + packet.size;
  }
  count_gap(packet);
  last_is_part_ = (packet.flags & AV_PKT_FLAG_CORRUPT) != 0 || gap_countdown_ > 0;
  return 0;
}

int Demuxer::read_next(AVPacket& packet) { return input_.live && drop_late_ ? read_fresh(packet) : read_ours(packet); }

bool Demuxer::is_ogg() const { return std::string_view(input_.format->iformat->name) == "ogg"; }

// Up to the end of the link. See Note [Ogg chains].
int Demuxer::read_link(AVPacket& packet) {
  const AVCodecParameters& codec = *input_.video.stream->codecpar;
  int read = read_next(packet);
  while (read >= 0 && is_ogg_header(packet, codec.codec_id)) {
    const bool link_ends = find_next_link();
    if (!link_ends && !has_ogg_header(codec, packet)) return read;
    av_packet_unref(&packet);
    if (link_ends) return AVERROR_EOF;
    read = read_next(packet);
  }
  const bool ended = read < 0 && read != AVERROR(EAGAIN) && !interrupted_;
  return ended && find_next_link() ? AVERROR_EOF : read;
}

bool Demuxer::find_next_link() {
  AVIOContext* io = input_.format->pb;
  if (location_.kind != InputKind::kFile || io == nullptr || last_begin_byte_ == 0) return false;
  next_link_byte_ = first_byte_ + next_ogg_link(*io, last_begin_byte_).value_or(-first_byte_);
  return has_next_link();
}

bool Demuxer::open_next_link() {
  InputLocation link = location_;
  link.begin_byte = std::exchange(next_link_byte_, 0);
  try {
    OpenedInput next = open_input(config_, link, log_, interrupted_);
    input_.format.reset();  // before what it borrows
    input_ = std::move(next);
  } catch (const InputError&) {
    counters_.truncated = true;
    return false;
  }
  first_byte_ = link.begin_byte;
  last_begin_byte_ = last_end_byte_ = 0;
  return true;
}

// Of a live stream: what the gate lets through. See Note [Late packets].
int Demuxer::read_fresh(AVPacket& packet) {
  while (read_ahead_code_ == 0 && gate_.wants_packet(steady_now_ns())) {
    const int read = read_ahead();
    if (read == AVERROR(EAGAIN)) gate_.nothing_behind(steady_now_ns());
    if (read == AVERROR(EAGAIN) && waiting_.empty()) return read;
    if (read < 0 && read != AVERROR(EAGAIN)) read_ahead_code_ = read;
  }
  if (waiting_.empty()) return std::exchange(read_ahead_code_, 0);
  av_packet_move_ref(&packet, waiting_.front().packet.get());
  arrived_ns_ = waiting_.front().arrived_ns;
  waiting_.pop_front();
  gate_.gave();
  return 0;
}

// One more packet into those that wait.
int Demuxer::read_ahead() {
  PacketPtr packet(av_packet_alloc());
  if (!packet) throw std::bad_alloc();
  const int read = read_ours(*packet);
  if (read < 0) return read;
  LivePacket seen;
  const std::int64_t ts = packet->dts != AV_NOPTS_VALUE ? packet->dts : packet->pts;
  if (!input_.timeless && ts != AV_NOPTS_VALUE) {
    seen.ts_ns = av_rescale_q(ts, input_.video.stream->time_base, {1, 1000000000});
  }
  seen.now_ns = arrived_ns_;
  seen.waited_ns = waited_ns_;
  seen.is_key = (packet->flags & AV_PKT_FLAG_KEY) != 0;
  seen.bytes = packet->size;
  waiting_.push_back({std::move(packet), arrived_ns_});
  leave_out(gate_.add(seen));
  return 0;
}

void Demuxer::leave_out(std::size_t packets) {
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(packets));
  counters_.packets_late += static_cast<std::int64_t>(packets);
  counters_.late_ns = gate_.left_out_ns();
}

// The next packet of our stream, when it was read, and how long that had to wait.
int Demuxer::read_ours(AVPacket& packet) {
  std::optional<SleepMeter> meter;
  if (input_.live && waiting_since_ns_ == 0) meter.emplace();
  for (;;) {
    const int read = read_any(packet);
    if (read == AVERROR(EAGAIN) && waiting_since_ns_ == 0) waiting_since_ns_ = steady_now_ns();
    if (read < 0) return read;
    if (packet.stream_index == input_.video.stream->index && !is_left_over(packet)) break;
    av_packet_unref(&packet);
    if (interrupted_) return AVERROR_EXIT;
  }
  if (!input_.live) return 0;
  arrived_ns_ = steady_now_ns();
  waited_ns_ = meter ? meter->slept_ns() : arrived_ns_ - waiting_since_ns_;
  waiting_since_ns_ = 0;
  return 0;
}

// A demuxer may give what it still held before it gives the error. Until there is data, the time-out of opening holds.
int Demuxer::read_any(AVPacket& packet) {
  if (!waiting_for_device_ && any_data_) input_.watch->arm(input_.stall_timeout_s);
  const std::int64_t from = input_.format->pb != nullptr ? avio_tell(input_.format->pb) : -1;
  const std::int64_t breaks = link_.breaks;
  const std::int64_t begin_ns = steady_now_ns();
  int read = av_read_frame(input_.format.get(), &packet);
  if (read >= 0 && interrupted_) {  // it may have been cut off
    av_packet_unref(&packet);
    return AVERROR_EXIT;
  }
  // A buffer of the wrong size is emptied by FFmpeg.
  if (read >= 0 && kind_ == InputKind::kDevice && packet.size == 0) {
    av_packet_unref(&packet);
    counters_.packets_corrupt += any_data_ ? 1 : 0;
    read = AVERROR(EAGAIN);
  }
  waiting_for_device_ = read == AVERROR(EAGAIN);
  any_data_ = any_data_ || read >= 0;
  const std::optional<std::int64_t>& repeated = input_.movies.repeated_byte;
  if (read >= 0 && repeated && packet.pos > *repeated) packet.flags &= ~AV_PKT_FLAG_DISCARD;
  if (read >= 0) {
    answer_.note(packet, *input_.format, *input_.video.stream, steady_now_ns() - begin_ns);
    link_.stale_packets = 0;
    gave_up_packet_ = link_.in_packet && is_held_back(input_.video.stream->codecpar->codec_id);
    return read;
  }
  if (waiting_for_device_ && !input_.watch->should_stop()) {
    std::this_thread::sleep_for(kDevicePoll);
    return read;
  }
  // FFmpeg calls it invalid data where a seek found no connection.
  if (read == AVERROR_INVALIDDATA && link_.breaks > breaks) read = AVERROR(EIO);
  return end_of(read, from);
}

// What a read that failed with `code` ended by.
int Demuxer::end_of(int code, std::int64_t from) {
  // RTSP that ends inside a message has lost its place as well: nothing after the last packet could be read.
  const bool unread = link_.stray_bytes > 0 || link_.stale_packets > kFewStale;
  lost_place_ = input_.watch->lost_place() || (code == AVERROR_EOF && unread);
  stalled_ = !interrupted_ && !lost_place_ && (input_.watch->timed_out() || code == AVERROR_EXIT);
  if (stalled_) return AVERROR(ETIMEDOUT);
  if (lost_place_) return AVERROR(EPROTO);
  if (code == AVERROR_EOF && gave_up_packet_) return AVERROR(EIO);
  if (code == AVERROR_EOF && link_.read_error < 0) return link_.read_error;
  if (is_plain_end(code, from)) return AVERROR_EOF;
  if (!answer_.is_such()) return code;
  return answer_.end(code, link_.answers_ended > 0, *input_.format, *input_.video.stream, packets_);
}

// When a transport stream's video moves to another packet id, FFmpeg gives the last picture of the old one at the end
// of the file. There it has lost its place and what it refers to.
bool Demuxer::is_left_over(const AVPacket& packet) {
  const bool is_transport = std::string_view(input_.format->iformat->name) == "mpegts";
  if (!is_transport || packet.pos < 0 || packet.pos >= last_begin_byte_) return false;
  ++counters_.packets_corrupt;
  return true;
}

// Some of FFmpeg's demuxers call it an error when they find nothing more: if nothing was left, it is not. Of RoQ, GXF
// and multipart MJPEG ends_too_early() tells.
bool Demuxer::is_plain_end(int code, std::int64_t from) const {
  AVIOContext* io = input_.format->pb;
  if (io == nullptr || io->error < 0) return false;
  const std::string_view name = input_.format->iformat->name;
  if ((io->seekable & AVIO_SEEKABLE_NORMAL) == 0) {
    if (kind_ != InputKind::kPipe || code != AVERROR_INVALIDDATA || avio_feof(io) == 0) return false;
    return name == "mpjpeg" || (name == "smjpeg" && from == avio_tell(io));
  }
  if (name == "mpjpeg") return code == AVERROR_INVALIDDATA && avio_feof(io) != 0;
  if (name == "gxf") return code == AVERROR(EPERM);
  if (name == "smjpeg") return code == AVERROR_INVALIDDATA && from == avio_size(io);
  return code == AVERROR(EIO) && ((from == avio_size(io) && name != "obu") || name == "roq");
}

// A flagged packet is what a transport stream has just before a gap. Where a recording is glued to another, a key frame
// follows at once and nothing is missing; where none does, pictures lack what they refer to. A parser may hand out the
// flag a packet early.
void Demuxer::count_gap(const AVPacket& packet) {
  if ((packet.flags & AV_PKT_FLAG_KEY) != 0) {
    gap_countdown_ = 0;
    return;
  }
  if (gap_countdown_ > 0 && --gap_countdown_ == 0) ++counters_.packets_corrupt;
  if ((packet.flags & AV_PKT_FLAG_CORRUPT) != 0) gap_countdown_ = 2;
}

StreamEnd Demuxer::finish(int code) {
  StreamEnd end;
  const std::int64_t promised = promised_packets(*input_.format, *input_.video.stream);
  const bool too_few = !sought_ && promised > 0 && packets_ < promised;
  const bool lacks_end =
      too_few || last_is_part_ || link_.ends_inside || ends_too_early(*input_.format, last_begin_byte_, last_end_byte_);
  end.lost = (!input_.live || may_be_file(code)) && is_lost(code, too_few, lacks_end);
  end.broke = code != AVERROR_EOF || end.lost;
  if (end.broke) end.reason = why_broken(code);
  if (end.broke) end.error = error_of_break(code);
  if (end.lost) end.reason = (kind_ == InputKind::kFile ? "reading failed: " : "lost connection: ") + end.reason;
  if (answer_.is_such() && is_ogg() && !end.broke) {
    config_.log.warn("{}: the server announced no length, and Ogg does not show its end: whether all came is not known",
                     config_.uri);
  }
  const Mp4Movies& movies = input_.movies;
  if (end.broke || lacks_end || input_.guard->has_refused() || movies.unread_byte || movies.is_cut)
    counters_.truncated = true;
  if (const auto byte = next_file_byte(*input_.format, last_end_byte_); byte && code == AVERROR_EOF) {
    counters_.truncated = true;
    config_.log.warn("{}: {}", config_.uri, second_file_note(*byte));
  }
  return end;
}

// An answer without a length. A file must not be read again from its beginning, as a live stream is that broke.
bool Demuxer::may_be_file(int code) const {
  return answer_.is_such() && (!input_.live || code == AVERROR_EOF || answer_.came_faster());
}

// Whether the disk or the network failed, rather than that the input ends so. An endless playlist may miss segments.
bool Demuxer::is_lost(int code, bool too_few, bool lacks_end) const {
  const HttpConnections& connections = input_.guard->connections();
  if (stalled_) return kind_ == InputKind::kNetwork || connections.any();
  const bool playlist = is_playlist(*input_.format);
  const AVIOContext* io = playlist ? nullptr : input_.format->pb;
  if (answer_.is_such() && code == AVERROR_EOF) return lacks_end || link_.breaks > 0;
  if (answer_.is_such()) return code != AVERROR_INVALIDDATA;
  if ((io != nullptr && io->error < 0 && io->error != AVERROR_EXIT) || input_.guard->length_changed()) return true;
  if (!connections.any() || (playlist && input_.format->duration == AV_NOPTS_VALUE)) return false;
  // FFmpeg swallows what breaks below its decryption and its DASH, and seeks that fail.
  const bool lacks = too_few || !counters_.damage().empty();
  return connections.lost() > 0 || (link_.breaks > 0 && lacks);
}

// In words, of an input that broke.
std::string Demuxer::why_broken(int code) const {
  if (lost_place_) return "what comes is not RTSP any more";
  const OpenGuard& guard = *input_.guard;
  if (code == AVERROR_EOF && is_playlist(*input_.format)) {
    return fmt::format("{} of its segments did not come whole",
                       std::max<std::int64_t>(guard.connections().lost(), counters_.segments_lost));
  }
  if (guard.length_changed()) return "the file changed on its server while it was read";
  if (code == AVERROR_EOF && guard.length_bytes() > 0 && guard.connections().lost() == 0) {
    return "what came after a break does not decode; the file may have changed on its server";
  }
  const AVIOContext* io = input_.format->pb;
  const int error = io != nullptr && io->error < 0 && !stalled_ ? io->error : code;
  std::string why = av_error_text(error);
  if (stalled_) {
    why = silent_for(input_.stall_timeout_s);
  } else if (guard.http() != nullptr && error == AVERROR(ETIMEDOUT)) {
    why = silent_for(guard.connections().silence_s());
  } else if (guard.length_bytes() > 0 && error == AVERROR(EIO)) {
    why = "the answer ended";
  } else if (may_be_file(code) && (code == AVERROR_EOF || error == AVERROR(EIO))) {
    why = "the answer ended before all came that its container promises";
  }
  if (guard.length_bytes() == 0 || io != guard.http()) return why;
  return fmt::format("{} at byte {} of {}; {}", why, io->pos, guard.length_bytes(),
                     guard.resumes() ? fmt::format("{} tries to get the rest failed", guard.connections().tries())
                                     : "it can't be asked for the rest");
}

// The errno of an input that broke. Of a connection that was lost it is ECONNRESET, unless its server can't be reached.
int Demuxer::error_of_break(int code) const {
  const OpenGuard& guard = *input_.guard;
  const AVIOContext* io = input_.format->pb;
  const int error = errno_of(io != nullptr && io->error < 0 && !stalled_ ? io->error : code);
  if (stalled_ || (guard.http() != nullptr && error == ETIMEDOUT)) return ETIME;
  const bool unreachable = error == ECONNREFUSED || error == ENETUNREACH || error == EHOSTUNREACH || error == ETIMEDOUT;
  return kind_ == InputKind::kFile || unreachable ? error : ECONNRESET;
}

bool Demuxer::seek(std::int64_t ts) {
  input_.guard->connections().forget();
  link_.breaks = 0;
  link_.ends_inside = false;
  if (input_.format->pb != nullptr) input_.format->pb->error = 0;
  if (av_seek_frame(input_.format.get(), input_.video.stream->index, ts, AVSEEK_FLAG_BACKWARD) < 0) return false;
  had_last_ = false;
  sought_ = true;
  next_link_byte_ = 0;
  last_begin_byte_ = 0;
  return true;
}

}  // namespace saccade
