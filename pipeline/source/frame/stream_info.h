// What is known of a video stream before its first frame is shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/enum_names.h"
#include "kernels/frame_view.h"

namespace saccade {

enum class HwDecode : std::uint8_t { kNo, kCuda };
inline constexpr EnumName<HwDecode> kHwDecodes[] = {{HwDecode::kNo, "no"}, {HwDecode::kCuda, "cuda"}};
constexpr std::span<const EnumName<HwDecode>> names_of(HwDecode) { return kHwDecodes; }

struct StreamInfo {
  std::string uri;                 // as it may be shown: Note [Secrets] in secrets.h
  std::string container;           // FFmpeg's short format name, or "test"
  std::string codec;               // FFmpeg's codec name, or "test"
  std::string pixel_format;        // of the decoder, before any conversion
  std::string decoder;             // the one really used: "h264", "libdav1d" ...
  HwDecode hwdec = HwDecode::kNo;  // what decodes
  std::string hwdec_reason;        // why not kCuda, where it was asked for
  int stream_index = 0;
  int coded_width_px = 0;  // as decoded, before rotation
  int coded_height_px = 0;
  int width_px = 0;  // as FrameView delivers it: after filters, conversion and rotation
  int height_px = 0;
  PixelLayout layout = PixelLayout::kI420;
  ColorSpec color;
  bool matrix_tagged = false;  // false: the default rule chose
  bool range_tagged = false;
  int rotation_deg = 0;   // clockwise rotation that was applied: 0, 90, 180, 270
  bool mirrored = false;  // a horizontal mirror was applied as well
  bool deinterlaced = false;
  double sar = 1.0;
  double fps = 0;  // average, 0 when unknown
  std::optional<double> duration_s;
  std::optional<std::int64_t> frame_count;  // as the container promises
  bool live = false;
  bool has_noise = true;           // a sensor's or a codec's; not of a screen
  bool has_pointer = false;        // a screen: frames say what its pointer points at, see ScreenCues
  bool sender_waits = false;       // live, but over HTTP, where a reader may be slow: it may be a file as well
  std::string filters;             // the FFmpeg filter graph that converts, empty when frames pass straight through
  std::vector<std::string> notes;  // what is done to the picture, a sentence each, for `info` and the log
};

// For people: "hevc on the GPU".
inline std::string decoder_text(const StreamInfo& info) {
  return info.hwdec == HwDecode::kNo ? info.decoder : info.decoder + " on the GPU";
}

}  // namespace saccade
