#include "pipeline/source/decode/redo.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "pipeline/source/decode/entry.h"
#include "pipeline/source/ffmpeg/log.h"

extern "C" {
#include <libavutil/imgutils.h>
}

namespace saccade {
namespace {

// With the picture before, which is the context's `opaque`; zeros where there is none of this kind.
int get_prepared_buffer(AVCodecContext* context, AVFrame* frame, int flags) {
  const int code = avcodec_default_get_buffer2(context, frame, flags);
  if (code < 0) return code;
  for (AVBufferRef* buffer : frame->buf) {
    if (buffer != nullptr) std::memset(buffer->data, 0, buffer->size);
  }
  const auto& before = *static_cast<const AVFrame*>(context->opaque);
  if (before.format != frame->format || before.data[0] == nullptr) return 0;
  const std::uint8_t* from[4] = {before.data[0], before.data[1], before.data[2], before.data[3]};
  av_image_copy(frame->data, frame->linesize, from, before.linesize, static_cast<AVPixelFormat>(frame->format),
                std::min(before.width, frame->width), std::min(before.height, frame->height));
  return 0;
}

}  // namespace

CleanRedo::CleanRedo(const AVCodecContext& decoder, const AVStream& stream, bool live)
    : decoder_(decoder),
      stream_(stream),
      most_sent_(static_cast<std::size_t>(std::max(decoder.thread_count, 1)) + 2),
      watches_(!live && decoder.hw_device_ctx == nullptr && stands_alone(decoder.codec_id) &&
               decoder.codec_id != AV_CODEC_ID_RAWVIDEO),
      before_(av_frame_alloc()) {
  if (!before_) throw std::bad_alloc();
}

void CleanRedo::note_packet(const AVPacket& packet) {
  if (sent_.size() >= most_sent_) sent_.pop_front();
  sent_.push_back({PacketPtr(av_packet_clone(&packet)), count_++});
  if (!sent_.back().packet) throw std::bad_alloc();
}

void CleanRedo::clear() {
  sent_.clear();
  av_frame_unref(before_.get());
}

void CleanRedo::check(AVFrame& frame, std::int64_t complaints) {
  if (complaints != complaints_) suspect_until_ = count_ - 1;
  complaints_ = complaints;
  check_one(frame);
  av_frame_unref(before_.get());
  if (av_frame_ref(before_.get(), &frame) < 0) throw std::bad_alloc();
}

void CleanRedo::check_one(AVFrame& frame) {
  const auto found = std::find_if(sent_.begin(), sent_.end(), [&](const Sent& sent) {
    return sent.packet->pts == frame.pts && sent.packet->dts == frame.pkt_dts;
  });
  if (found == sent_.end()) return;
  if (found->number <= suspect_until_) redo(frame, *found->packet);
  sent_.erase(sent_.begin(), found + 1);
}

// Where it gives no frame this time, the first one stays.
void CleanRedo::redo(AVFrame& frame, const AVPacket& packet) const {
  const ErrorCapture quiet;
  const CodecContextPtr context(avcodec_alloc_context3(decoder_.codec));
  const AvFramePtr clean(av_frame_alloc());
  if (!context || !clean) throw std::bad_alloc();
  if (avcodec_parameters_to_context(context.get(), stream_.codecpar) < 0) return;
  context->pkt_timebase = decoder_.pkt_timebase;
  context->thread_count = 1;
  context->flags = decoder_.flags;
  context->max_pixels = decoder_.max_pixels;
  context->opaque = before_.get();
  context->get_buffer2 = get_prepared_buffer;
  if (avcodec_open2(context.get(), decoder_.codec, nullptr) < 0) return;
  if (avcodec_send_packet(context.get(), &packet) < 0) return;
  avcodec_send_packet(context.get(), nullptr);
  if (avcodec_receive_frame(context.get(), clean.get()) < 0) return;
  clean->best_effort_timestamp = frame.best_effort_timestamp;
  av_frame_unref(&frame);
  av_frame_move_ref(&frame, clean.get());
}

}  // namespace saccade
