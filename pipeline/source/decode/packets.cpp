#include "pipeline/source/decode/packets.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>
#include <thread>

#include "pipeline/clock.h"
#include "pipeline/error.h"
#include "pipeline/source/demux/guard.h"
#include "pipeline/source/demux/truncation.h"
#include "pipeline/source/ffmpeg/hardware.h"

namespace saccade {
namespace {

constexpr int kMaxErrorsInARow = 64;
constexpr auto kDevicePoll = std::chrono::milliseconds(1);

bool carries_encryption(const AVPacket& packet) {
  return av_packet_get_side_data(&packet, AV_PKT_DATA_ENCRYPTION_INFO, nullptr) != nullptr;
}

}  // namespace

StreamDecoder::StreamDecoder(const SourceConfig& config, const std::atomic<bool>& interrupted, SourceCounters& counters)
    : interrupted_(interrupted),
      counters_(counters),
      input_(open_input(config, interrupted)),
      packet_(av_packet_alloc()),
      drop_late_(config.live.drop_late) {
  if (!packet_) throw std::bad_alloc();
}

ReadStatus StreamDecoder::decode(AVFrame& frame) {
  for (;;) {
    if (interrupted_) return ReadStatus::kFailed;
    const int received = avcodec_receive_frame(input_.codec.get(), &frame);
    if (received == 0) {
      errors_in_a_row_ = 0;
      had_frame_ = true;
      if (input_.live) mark_arrival(frame);
      return ReadStatus::kOk;
    }
    if (received == AVERROR_EOF) {
      count_silent_damage();
      return ReadStatus::kEnd;
    }
    if (received == AVERROR(EAGAIN)) {
      const ReadStatus fed = feed();
      if (fed != ReadStatus::kOk) return fed;
      continue;
    }
    note_error(received);
    if (draining_ && ++errors_in_a_row_ > kMaxErrorsInARow) return ReadStatus::kEnd;
  }
}

// One packet of our stream into the decoder, or the flush at the end.
ReadStatus StreamDecoder::feed() {
  if (draining_) return ReadStatus::kEnd;
  for (;;) {
    if (interrupted_) return ReadStatus::kFailed;
    const int read = had_last_ ? AVERROR_EOF : read_packet();
    if (read == AVERROR(EAGAIN)) return ReadStatus::kAgain;
    if (read == AVERROR_INVALIDDATA && ++errors_in_a_row_ <= kMaxErrorsInARow && !avio_feof(input_.format->pb)) {
      ++counters_.packets_corrupt;
      continue;
    }
    if (read < 0) {
      if (interrupted_) return ReadStatus::kFailed;
      finish(read);
      return ReadStatus::kOk;
    }
    if (packet_->stream_index == input_.stream->index && !is_late(*packet_)) break;
    av_packet_unref(packet_.get());
  }
  had_last_ = input_.last_pts && packet_->pts >= *input_.last_pts;
  if (packets_++ == 0) begins_with_key_ = (packet_->flags & AV_PKT_FLAG_KEY) != 0;
  if (input_.live) note_arrival(*packet_);
  if (packet_->pos >= 0) packets_end_byte_ = packet_->pos + packet_->size;
  count_gap(*packet_);
  if (carries_encryption(*packet_)) {  // decoded without its key it is noise, at times without an error
    encrypted_ = true;
    av_packet_unref(packet_.get());
    finish(AVERROR(EACCES));
    return ReadStatus::kOk;
  }
  const int sent = avcodec_send_packet(input_.codec.get(), packet_.get());
  av_packet_unref(packet_.get());
  if (sent < 0 && sent != AVERROR(EAGAIN) && sent != AVERROR_EOF) note_error(sent);
  return ReadStatus::kOk;
}

// A lost card looks to FFmpeg like packets that can't be decoded, and a stream has no end of those.
void StreamDecoder::note_error(int code) {
  if (input_.codec->hw_device_ctx != nullptr) {
    const std::string why = why_card_is_lost();
    if (!why.empty()) throw UnavailableError(fmt::format("the GPU decodes no more: {}", why));
  }
  if (!joining()) ++counters_.packets_corrupt;
  if (first_error_ == 0) first_error_ = code;
}

// As av_read_frame(), with the stall's time-out. A demuxer may give what it still held before it gives the error.
int StreamDecoder::read_packet() {
  if (!waiting_) input_.watch->arm(input_.stall_timeout_s);
  const int read = av_read_frame(input_.format.get(), packet_.get());
  waiting_ = read == AVERROR(EAGAIN);
  if (read >= 0) return read;
  if (waiting_ && !input_.watch->should_stop()) {
    std::this_thread::sleep_for(kDevicePoll);
    return read;
  }
  stalled_ = !interrupted_ && (input_.watch->timed_out() || read == AVERROR_EXIT);
  return stalled_ ? AVERROR(ETIMEDOUT) : read;
}

bool StreamDecoder::is_late(const AVPacket& packet) {
  if (!input_.live || !drop_late_) return false;
  const std::int64_t ts = packet.dts != AV_NOPTS_VALUE ? packet.dts : packet.pts;
  std::optional<std::int64_t> ts_ns;
  if (ts != AV_NOPTS_VALUE) ts_ns = av_rescale_q(ts, input_.stream->time_base, {1, 1000000000});
  if (gate_.admits(ts_ns, steady_now_ns(), (packet.flags & AV_PKT_FLAG_KEY) != 0)) return false;
  ++counters_.packets_late;
  return true;
}

void StreamDecoder::note_arrival(const AVPacket& packet) {
  const std::int64_t ts = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
  arrivals_[arrival_count_++ % arrivals_.size()] = {ts, steady_now_ns()};
}

void StreamDecoder::mark_arrival(AVFrame& frame) const {
  const std::int64_t ts = frame.pts != AV_NOPTS_VALUE ? frame.pts : frame.pkt_dts;
  std::int64_t at_ns = 0;
  for (std::size_t back = 1; back <= std::min(arrival_count_, arrivals_.size()); ++back) {
    const Arrival& arrival = arrivals_[(arrival_count_ - back) % arrivals_.size()];
    if (back == 1) at_ns = arrival.at_ns;
    if (arrival.ts != ts) continue;
    at_ns = arrival.at_ns;
    break;
  }
  frame.opaque = reinterpret_cast<void*>(static_cast<std::intptr_t>(at_ns));
}

std::int64_t arrived_ns(const AVFrame& frame) { return reinterpret_cast<std::intptr_t>(frame.opaque); }

// A flagged packet is what a transport stream has just before a gap. Where a recording is glued to another, a key frame
// follows at once and nothing is missing; where none does, pictures lack what they refer to. A parser may hand out the
// flag a packet early.
void StreamDecoder::count_gap(const AVPacket& packet) {
  if ((packet.flags & AV_PKT_FLAG_KEY) != 0) {
    gap_countdown_ = 0;
    return;
  }
  if (gap_countdown_ > 0 && --gap_countdown_ == 0) ++counters_.packets_corrupt;
  if ((packet.flags & AV_PKT_FLAG_CORRUPT) != 0) gap_countdown_ = 2;
}

// Errors a decoder logged but flagged nowhere. A stream that was joined midway starts with some that are no damage.
void StreamDecoder::count_silent_damage() {
  const bool silent = counters_.packets_corrupt == 0 && counters_.frames_corrupt == 0;
  if (silent && !sought_ && begins_with_key_ && input_.complaints->errors > 0) ++counters_.packets_corrupt;
}

void StreamDecoder::finish(int read_error) {
  draining_ = true;
  avcodec_send_packet(input_.codec.get(), nullptr);
  if (read_error != AVERROR_EOF) {
    counters_.truncated = true;
    end_.broke = true;
    end_.reason = stalled_ ? fmt::format("nothing came for {:g} s", input_.stall_timeout_s) : av_error_text(read_error);
    if (first_error_ == 0) first_error_ = read_error;
  }
  const std::int64_t promised = promised_packets(*input_.format, *input_.stream);
  if (!sought_ && promised > 0 && packets_ < promised) counters_.truncated = true;
  if (input_.guard->has_refused()) counters_.truncated = true;
  if (ends_too_early(*input_.format, packets_end_byte_)) counters_.truncated = true;
}

bool StreamDecoder::seek(std::int64_t ts) {
  if (av_seek_frame(input_.format.get(), input_.stream->index, ts, AVSEEK_FLAG_BACKWARD) < 0) return false;
  avcodec_flush_buffers(input_.codec.get());
  draining_ = false;
  had_last_ = false;
  sought_ = true;
  return true;
}

std::string StreamDecoder::first_fault() const { return first_error_ != 0 ? av_error_text(first_error_) : ""; }

}  // namespace saccade
