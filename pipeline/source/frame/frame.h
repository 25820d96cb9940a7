// A decoded frame: reference-counted planes (an AVFrame behind it) and the view that describes them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/enum_names.h"
#include "kernels/frame_view.h"
#include "pipeline/screen_cues.h"

struct AVFrame;

namespace saccade {

struct AvFrameDeleter {
  void operator()(AVFrame* frame) const noexcept;
};
using AvFramePtr = std::unique_ptr<AVFrame, AvFrameDeleter>;

// What AVHWDeviceContext::user_opaque points at, in each device context of ours: where its frames are written.
struct DevicePlace {
  int device = 0;          // CUDA's ordinal
  void* stream = nullptr;  // the cudaStream_t; null: they are there when they are given out
};
DevicePlace device_place(const AVFrame& frame);  // of a frame on the host: the default

// Whose clock said when a live frame was captured.
enum class CaptureClock : std::uint8_t {
  kArrival,  // nobody's: its arrival stands in
  kDriver,   // the camera driver's, on this machine
  kSender,   // the sender's, by its RTCP reports: right when both machines keep the same time
};
inline constexpr EnumName<CaptureClock> kCaptureClocks[] = {
    {CaptureClock::kArrival, "arrival"}, {CaptureClock::kDriver, "driver"}, {CaptureClock::kSender, "sender"}};
constexpr std::span<const EnumName<CaptureClock>> names_of(CaptureClock) { return kCaptureClocks; }

// When a live frame came to be, by the steady clock. All 0 for what is not live.
struct FrameOrigin {
  std::int64_t captured_ns = 0;
  std::int64_t arrived_ns = 0;  // its last packet came out of the demuxer
  CaptureClock clock = CaptureClock::kArrival;
  std::int32_t gaps = 0;  // how often the stream was interrupted before this frame
};

// Note [Frame origins]
// The origin of a live frame is known when it comes out of the decoder, and wanted when it has passed the filters,
// which hold frames back and change their times. So it travels in the AVFrame: AVFrame::opaque_ref is kept by filters
// and copies, owned, and known to be ours by its buffer's tag. (AVCodecContext has a way from packet to frame only from
// FFmpeg 6.0 on; up to there, PacketDecoder matches time stamps.) Frames that are not live carry nothing.
void attach_origin(AVFrame& frame, const FrameOrigin& origin);
FrameOrigin attached_origin(const AVFrame& frame);  // all 0: there is none

// How the samples of a canonical picture are read; see FrameView.
struct PictureFormat {
  PixelLayout layout = PixelLayout::kI420;
  int shift = 0;
  ColorSpec color;
  float sar = 1.0f;
};

// The planes of a canonical picture, its size, and where it lies.
FrameView view_planes(const AVFrame& picture, PixelLayout layout);

// Move-only. An empty frame has no planes. Any thread may own it; the planes are read-only.
class Frame {
 public:
  Frame() = default;
  // The one place where a frame's view is filled: from the picture itself, and what its samples mean.
  Frame(AvFramePtr picture, const PictureFormat& format, std::int64_t pts_ns, std::int64_t sequence);

  explicit operator bool() const { return planes_ != nullptr; }
  const FrameView& view() const { return view_; }
  const FrameOrigin& origin() const { return origin_; }
  const ScreenCues& cues() const { return cues_; }
  // For a source made of several: the frame's time and number in the whole, and the gaps before it.
  void place(std::int64_t pts_ns, std::int64_t sequence, std::int32_t gaps);
  void set_cues(const ScreenCues& cues) { cues_ = cues; }
  // See FrameView::may_differ.
  void differs_in(std::vector<PixelRect> rects);
  AvFramePtr release() { return std::move(planes_); }  // for a pool that reuses the AVFrame

 private:
  AvFramePtr planes_;
  FrameView view_;
  std::vector<PixelRect> may_differ_;
  FrameOrigin origin_;
  ScreenCues cues_;
};

}  // namespace saccade
