// FFmpeg's handles as owners, for the preview encoders alone.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswscale/swscale.h>
}

#include <memory>
#include <string>

#include "kernels/picture/rgb_image.h"

namespace saccade::preview {

struct AvDeleter {
  void operator()(AVCodecContext* p) const noexcept { avcodec_free_context(&p); }
  void operator()(AVFrame* p) const noexcept { av_frame_free(&p); }
  void operator()(AVPacket* p) const noexcept { av_packet_free(&p); }
  void operator()(SwsContext* p) const noexcept { sws_freeContext(p); }
  void operator()(AVFormatContext* p) const noexcept {
    avio_closep(&p->pb);
    avformat_free_context(p);
  }
};
template <typename T>
using AvPtr = std::unique_ptr<T, AvDeleter>;

inline constexpr const char* kWriting = "can't be written";

// Throws Error "OUTPUT: WHAT: FFmpeg's reason" when `code` is negative; with kWriting as fail_to_write() says it.
void check(int code, const std::string& output, const char* what);

// A writable frame with planes of its own. Throws std::bad_alloc.
AvPtr<AVFrame> make_frame(int width, int height, AVPixelFormat format);

// Where a file is written before it gets its name: the same folder, so that the rename is atomic.
std::string partial_name(const std::string& output);

// Gives the finished file its name. Throws Error.
void publish(const std::string& partial, const std::string& output);

}  // namespace saccade::preview
