// FFmpeg's handles as move-only owners, and what its calls are asked in more than one place.
#pragma once

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

namespace saccade {

struct AvDeleter {
  void operator()(AVFormatContext* p) const noexcept { avformat_close_input(&p); }
  void operator()(AVCodecContext* p) const noexcept { avcodec_free_context(&p); }
  void operator()(AVPacket* p) const noexcept { av_packet_free(&p); }
  void operator()(AVBufferRef* p) const noexcept { av_buffer_unref(&p); }
};
using FormatContextPtr = std::unique_ptr<AVFormatContext, AvDeleter>;
using CodecContextPtr = std::unique_ptr<AVCodecContext, AvDeleter>;
using PacketPtr = std::unique_ptr<AVPacket, AvDeleter>;
using BufferPtr = std::unique_ptr<AVBufferRef, AvDeleter>;

// What the container says to cut off each side of a frame of `width` x `height`, in pixels.
struct CropTags {
  int left = 0, top = 0, right = 0, bottom = 0;
  int width = 0, height = 0;
  bool any() const { return left != 0 || top != 0 || right != 0 || bottom != 0; }
};

// A video stream in its container. Borrowed: both belong to the input that is open.
struct VideoStream {
  AVFormatContext* format = nullptr;
  AVStream* stream = nullptr;
  CropTags crop;

  AVRational frame_rate() const {  // 0/1 when unknown
    const AVRational rate = av_guess_frame_rate(format, stream, nullptr);
    return rate.num > 0 && rate.den > 0 ? rate : AVRational{0, 1};
  }
  // The container's custom, where nothing is tagged.
  bool gray_is_limited() const { return std::string_view(format->iformat->name).starts_with("yuv4mpeg"); }
};

// Options on their way into FFmpeg; what it didn't take stays.
class Dictionary {
 public:
  Dictionary() = default;
  Dictionary(Dictionary&& other) noexcept : entries_(std::exchange(other.entries_, nullptr)) {}
  Dictionary(const Dictionary&) = delete;
  ~Dictionary() { av_dict_free(&entries_); }
  void set(const char* name, const std::string& value) { av_dict_set(&entries_, name, value.c_str(), 0); }
  bool has(const char* name) const { return av_dict_get(entries_, name, nullptr, 0) != nullptr; }
  AVDictionary** get() { return &entries_; }

 private:
  AVDictionary* entries_ = nullptr;
};

inline constexpr int kErrnos = 4096;  // Linux has fewer; FFmpeg's own codes lie far below

inline std::string av_error_text(int code) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(code, text, sizeof text);
  return text;
}

// The errno of an error code of FFmpeg's, 0 where there is none. Servers' answers have those of files: what is refused
// is EACCES, and what another try may bring EAGAIN.
inline int errno_of(int code) {
  switch (code) {
    case AVERROR_HTTP_UNAUTHORIZED:
    case AVERROR_HTTP_FORBIDDEN:
      return EACCES;
    case AVERROR_HTTP_NOT_FOUND:
      return ENOENT;
    case AVERROR_HTTP_OTHER_4XX:  // also 429: too many requests
    case AVERROR_HTTP_SERVER_ERROR:
#ifdef AVERROR_HTTP_TOO_MANY_REQUESTS
    case AVERROR_HTTP_TOO_MANY_REQUESTS:
#endif
      return EAGAIN;
    default:
      return code < 0 && code > -kErrnos ? AVUNERROR(code) : 0;
  }
}

}  // namespace saccade
