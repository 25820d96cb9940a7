#include "pipeline/source/decode/packets.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "pipeline/clock.h"
#include "pipeline/error.h"
#include "pipeline/source/decode/codec.h"
#include "pipeline/source/ffmpeg/hardware.h"
#include "pipeline/source/ffmpeg/picture_facts.h"

namespace saccade {
namespace {

constexpr int kMaxErrorsInARow = 64;

bool carries_encryption(const AVPacket& packet) {
  return av_packet_get_side_data(&packet, AV_PKT_DATA_ENCRYPTION_INFO, nullptr) != nullptr;
}

}  // namespace

PacketDecoder::PacketDecoder(const SourceConfig& config, const InputLocation& location, const FfmpegLog& log,
                             const std::atomic<bool>& interrupted, SourceCounters& counters)
    : config_(config),
      location_(location),
      interrupted_(interrupted),
      counters_(counters),
      log_(log),
      complaints_before_(log.complaints()),
      losses_(log.losses()),
      waits_(location.kind != InputKind::kFile && location.kind != InputKind::kGraph),
      demuxer_(config, location, log, interrupted, counters),
      packet_(av_packet_alloc()) {
  if (!packet_) throw std::bad_alloc();
  open_decoder();
}

void PacketDecoder::open_decoder() {
  redo_.reset();
  codec_ = open_codec(config_, location_, video(), demuxer_.live(), log_);
  redo_.emplace(*codec_, *video().stream, demuxer_.live());
  const bool threaded = codec_->active_thread_type != 0 && codec_->thread_count > 1;
  counters_.several_threads = counters_.several_threads || (threaded && !redo_->watches());
}

ReadStatus PacketDecoder::decode(AVFrame& frame) {
  for (;;) {
    if (interrupted_) return ReadStatus::kFailed;
    const int received = avcodec_receive_frame(codec_.get(), &frame);
    if (received == 0) {
      errors_in_a_row_ = 0;
      had_frame_ = true;
      if (layers_.hides(frame)) {
        av_frame_unref(&frame);
        continue;
      }
      if (redo_->watches()) redo_->check(frame, log_.complaints() - complaints_before_);
      if (entry_.watching()) entry_.note_frame(frame, log_.complaints());
      if (demuxer_.live()) arrived_ns_ = arrival_of(frame);
      frame.sample_aspect_ratio = av_guess_sample_aspect_ratio(video().format, video().stream, &frame);
      return ReadStatus::kOk;
    }
    if (received == AVERROR_EOF) {
      if (open_next_link()) continue;
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

bool PacketDecoder::open_next_link() {
  if (!demuxer_.has_next_link() || !demuxer_.open_next_link()) return false;
  open_decoder();
  layers_.clear();
  draining_ = false;
  return true;
}

int PacketDecoder::read() {
  if (!waits_) return demuxer_.read(*packet_);
  const std::int64_t begin_ns = steady_now_ns();
  const int read = demuxer_.read(*packet_);
  counters_.waited_ns += steady_now_ns() - begin_ns;
  return read;
}

// One packet into the decoder, or the flush at the end.
ReadStatus PacketDecoder::feed() {
  if (draining_) return ReadStatus::kEnd;
  int read = this->read();
  while (read == AVERROR_INVALIDDATA && ++errors_in_a_row_ <= kMaxErrorsInARow && !demuxer_.at_end_of_file()) {
    ++counters_.packets_corrupt;
    read = this->read();
  }
  note_losses();
  if (read == AVERROR(EAGAIN)) return ReadStatus::kAgain;
  if (read < 0) {
    if (interrupted_) return ReadStatus::kFailed;
    drain(read);
    return ReadStatus::kOk;
  }
  if (demuxer_.live()) note_arrival(*packet_);
  if (carries_encryption(*packet_)) {  // decoded without its key it is noise, at times without an error
    encrypted_ = true;
    av_packet_unref(packet_.get());
    drain(AVERROR(EACCES));
    return ReadStatus::kOk;
  }
  if (entry_.watching()) entry_.note_packet(*packet_);
  if (codec_->codec_id == AV_CODEC_ID_VP9) layers_.note_packet(*packet_);
  attach_picture_facts(*packet_, *video().stream->codecpar, *video().format->iformat);
  if (redo_->watches()) redo_->note_packet(*packet_);
  const int sent = avcodec_send_packet(codec_.get(), packet_.get());
  av_packet_unref(packet_.get());
  if (sent < 0 && sent != AVERROR(EAGAIN) && sent != AVERROR_EOF) note_error(sent);
  return ReadStatus::kOk;
}

// A GPU that fails looks to FFmpeg like packets that can't be decoded, and a stream has no end of those.
void PacketDecoder::note_error(int code) {
  if (codec_->hw_device_ctx != nullptr) {
    const std::string why = why_device_is_lost(*codec_);
    if (!why.empty()) throw UnavailableError(fmt::format("the GPU decodes no more: {}", why));
  }
  if (!joining()) ++counters_.packets_corrupt;
  if (first_error_ == 0) first_error_ = code;
}

void PacketDecoder::note_arrival(const AVPacket& packet) {
  const std::int64_t ts = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
  arrivals_[arrival_count_++ % arrivals_.size()] = {ts, demuxer_.arrived_ns()};
}

// By time stamp; the newest packet's where none fits.
std::int64_t PacketDecoder::arrival_of(const AVFrame& frame) const {
  const std::int64_t ts = frame.pts != AV_NOPTS_VALUE ? frame.pts : frame.pkt_dts;
  std::int64_t at_ns = 0;
  for (std::size_t back = 1; back <= std::min(arrival_count_, arrivals_.size()); ++back) {
    const Arrival& arrival = arrivals_[(arrival_count_ - back) % arrivals_.size()];
    if (back == 1) at_ns = arrival.at_ns;
    if (arrival.ts == ts) return arrival.at_ns;
  }
  return at_ns;
}

// What never came. The beginning of a stream that was joined midway is not missed.
void PacketDecoder::note_losses() {
  const Losses now = log_.losses();
  if (!joining()) {
    counters_.packets_lost += now.packets - losses_.packets;
    counters_.segments_lost += now.segments - losses_.segments;
  }
  losses_ = now;
}

// Errors a decoder logged but flagged nowhere. A stream that was joined midway starts with some that are no damage.
void PacketDecoder::count_silent_damage() {
  const bool silent = counters_.packets_corrupt == 0 && counters_.frames_corrupt == 0;
  const bool complained = log_.complaints() > complaints_before_;
  if (silent && demuxer_.began_with_key() && complained) ++counters_.packets_corrupt;
}

void PacketDecoder::drain(int read_error) {
  draining_ = true;
  avcodec_send_packet(codec_.get(), nullptr);
  if (read_error != AVERROR_EOF && first_error_ == 0) first_error_ = read_error;
  if (!demuxer_.has_next_link()) end_ = demuxer_.finish(read_error);
}

bool PacketDecoder::begins_at(std::int64_t pts) {
  const bool read = this->read() >= 0;
  const bool begins = read && packet_->pts == pts && (packet_->flags & AV_PKT_FLAG_KEY) != 0;
  av_packet_unref(packet_.get());
  return begins;
}

bool PacketDecoder::seek(std::int64_t ts) {
  const AVCodecParameters& codec = *video().stream->codecpar;
  if (entry_rule(codec) == EntryRule::kNone || !demuxer_.seek(ts)) return false;
  if (remembers_over_flush(codec.codec_id)) {
    open_decoder();
  } else {
    avcodec_flush_buffers(codec_.get());
    redo_->clear();
  }
  draining_ = false;
  end_ = {};
  layers_.clear();
  entry_.begin(codec, log_.complaints());
  return true;
}

}  // namespace saccade
