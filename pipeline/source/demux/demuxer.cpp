#include "pipeline/source/demux/demuxer.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <thread>

#include "pipeline/clock.h"
#include "pipeline/source/demux/truncation.h"

namespace saccade {
namespace {

constexpr auto kDevicePoll = std::chrono::milliseconds(1);

}  // namespace

Demuxer::Demuxer(const SourceConfig& config, const InputLocation& location, const std::atomic<bool>& interrupted,
                 SourceCounters& counters)
    : interrupted_(interrupted),
      counters_(counters),
      input_(open_input(config, location, interrupted)),
      drop_late_(config.live.drop_late) {}

int Demuxer::read(AVPacket& packet) {
  for (;;) {
    if (interrupted_) return AVERROR_EXIT;
    if (had_last_) return AVERROR_EOF;
    const int read = read_any(packet);
    if (read < 0) return read;
    if (packet.stream_index == input_.video.stream->index && !is_late(packet)) break;
    av_packet_unref(&packet);
  }
  had_last_ = input_.last_pts && packet.pts >= *input_.last_pts;
  if (packets_++ == 0) begins_with_key_ = (packet.flags & AV_PKT_FLAG_KEY) != 0;
  if (packet.pos >= 0) packets_end_byte_ = packet.pos + packet.size;
  count_gap(packet);
  return 0;
}

// A demuxer may give what it still held before it gives the error.
int Demuxer::read_any(AVPacket& packet) {
  if (!waiting_) input_.watch->arm(input_.stall_timeout_s);
  const int read = av_read_frame(input_.format.get(), &packet);
  waiting_ = read == AVERROR(EAGAIN);
  if (read >= 0) return read;
  if (waiting_ && !input_.watch->should_stop()) {
    std::this_thread::sleep_for(kDevicePoll);
    return read;
  }
  stalled_ = !interrupted_ && (input_.watch->timed_out() || read == AVERROR_EXIT);
  return stalled_ ? AVERROR(ETIMEDOUT) : read;
}

bool Demuxer::is_late(const AVPacket& packet) {
  if (!input_.live || !drop_late_) return false;
  const std::int64_t ts = packet.dts != AV_NOPTS_VALUE ? packet.dts : packet.pts;
  std::optional<std::int64_t> ts_ns;
  if (ts != AV_NOPTS_VALUE) ts_ns = av_rescale_q(ts, input_.video.stream->time_base, {1, 1000000000});
  if (gate_.admits(ts_ns, steady_now_ns(), (packet.flags & AV_PKT_FLAG_KEY) != 0)) return false;
  ++counters_.packets_late;
  return true;
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
  if (code != AVERROR_EOF) {
    end.broke = true;
    end.reason = stalled_ ? fmt::format("nothing came for {:g} s", input_.stall_timeout_s) : av_error_text(code);
  }
  const std::int64_t promised = promised_packets(*input_.format, *input_.video.stream);
  const bool too_few = !sought_ && promised > 0 && packets_ < promised;
  const bool cut = end.broke || too_few || input_.guard->has_refused();
  if (cut || ends_too_early(*input_.format, packets_end_byte_)) counters_.truncated = true;
  return end;
}

bool Demuxer::seek(std::int64_t ts) {
  if (av_seek_frame(input_.format.get(), input_.video.stream->index, ts, AVSEEK_FLAG_BACKWARD) < 0) return false;
  had_last_ = false;
  sought_ = true;
  return true;
}

}  // namespace saccade
