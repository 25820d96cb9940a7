// The picture of a monitor or window that the desktop shares, kept up by PipeWire's damage.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/source/frame/frame_source.h"
#include "pipeline/source/screen/screen_capture.h"
#include "pipeline/source/screen/screen_name.h"
#include "pipeline/source/screen/wayland/cast_stream.h"
#include "pipeline/source/screen/wayland/portal.h"

namespace saccade::wayland {

class Capture final : public ScreenCapture {
 public:
  // Waits for the person at the desktop, and then for the first picture. Width and height of the picture; 0: as
  // captured. Throws InputError, UsageError, UnavailableError, and Error of kind kInterrupted.
  Capture(const ScreenName& name, const SourceConfig& config, int width_px, int height_px);
  ~Capture() override;

  const char* decoder() const override { return "pipewire"; }
  bool wait(std::chrono::milliseconds longest) override;
  StreamEnd end() const override;
  bool has_changed() const override {
    return stream_->has_changed() || (draws_pointer_ && stream_->has_pointer_moved());
  }
  std::vector<PixelRect> read() override;
  std::int64_t made_ns() const override { return made_ns_; }

 private:
  bool is_over() const { return stream_->is_over() || portal_.is_closed() || portal_.is_lost(); }
  void wait_for_first(const SourceConfig& config, int width_px, int height_px);
  PixelRect wanted_part(const PixelRect& area) const;
  void copy(const CastPicture& from, std::vector<PixelRect>& changed);
  void cover_pointer(std::vector<PixelRect>& changed);
  void follow_pointer(const CastPointer& pointer, std::vector<PixelRect>& changed);
  void draw_pointer(const CastPointer& pointer, std::vector<PixelRect>& changed);

  PixelRect seen() const { return common(picture_.area(), {0, 0, area_.width, area_.height}); }

  const std::optional<PixelRect> region_;
  const bool draws_pointer_;
  Portal portal_;
  std::unique_ptr<CastStream> stream_;
  PixelRect area_;  // of the stream's buffers: what is captured
  std::int64_t made_ns_ = 0;
  PixelRect pointer_area_;           // of the picture, as drawn
  std::vector<std::uint8_t> under_;  // the pixels that it covers
};

}  // namespace saccade::wayland
