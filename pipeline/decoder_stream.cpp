#include "pipeline/decoder_stream.h"

#include <new>

#include "pipeline/decoder_truncation.h"

namespace saccade {
namespace {

constexpr int kMaxErrorsInARow = 64;

bool carries_encryption(const AVPacket& packet) {
  return av_packet_get_side_data(&packet, AV_PKT_DATA_ENCRYPTION_INFO, nullptr) != nullptr;
}

}  // namespace

StreamDecoder::StreamDecoder(const SourceConfig& config, const std::atomic<bool>& interrupted, SourceCounters& counters)
    : interrupted_(interrupted),
      counters_(counters),
      input_(open_input(config, interrupted)),
      packet_(av_packet_alloc()) {
  if (!packet_) throw std::bad_alloc();
}

ReadStatus StreamDecoder::decode(AVFrame& frame) {
  for (;;) {
    if (interrupted_) return ReadStatus::kFailed;
    const int received = avcodec_receive_frame(input_.codec.get(), &frame);
    if (received == 0) {
      errors_in_a_row_ = 0;
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
    ++counters_.packets_corrupt;
    if (first_error_ == 0) first_error_ = received;
    if (draining_ && ++errors_in_a_row_ > kMaxErrorsInARow) return ReadStatus::kEnd;
  }
}

// One packet of our stream into the decoder, or the flush at the end.
ReadStatus StreamDecoder::feed() {
  if (draining_) return ReadStatus::kEnd;
  for (;;) {
    if (interrupted_) return ReadStatus::kFailed;
    const int read = had_last_ ? AVERROR_EOF : av_read_frame(input_.format.get(), packet_.get());
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
    if (packet_->stream_index == input_.stream->index) break;
    av_packet_unref(packet_.get());
  }
  had_last_ = input_.last_pts && packet_->pts >= *input_.last_pts;
  if (packets_++ == 0) begins_with_key_ = (packet_->flags & AV_PKT_FLAG_KEY) != 0;
  if (packet_->pos >= 0) packets_end_byte_ = packet_->pos + packet_->size;
  count_gap(*packet_);
  encrypted_ = encrypted_ || carries_encryption(*packet_);
  const int sent = avcodec_send_packet(input_.codec.get(), packet_.get());
  av_packet_unref(packet_.get());
  if (sent < 0 && sent != AVERROR(EAGAIN) && sent != AVERROR_EOF) {
    ++counters_.packets_corrupt;
    if (first_error_ == 0) first_error_ = sent;
  }
  return ReadStatus::kOk;
}

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
    if (first_error_ == 0) first_error_ = read_error;
  }
  const std::int64_t promised = promised_packets(*input_.format, *input_.stream);
  if (!sought_ && promised > 0 && packets_ < promised) counters_.truncated = true;
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
