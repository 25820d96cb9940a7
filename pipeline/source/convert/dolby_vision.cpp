#include "pipeline/source/convert/dolby_vision.h"

#include <fmt/format.h>

#include "pipeline/source/ffmpeg/versions.h"

extern "C" {
#include <libavutil/dovi_meta.h>
#include <libavutil/frame.h>
}

namespace saccade {
namespace {

bool is_ipt(int profile, int compatibility) {
  return profile == 5 || ((profile == 10 || profile == 20) && compatibility == 0);
}

// A bare stream has no record. RPU profile 0 with a full-range base layer is profile 5, as FFmpeg's own
// ff_dovi_guess_profile() has it.
int profile_by_rpu(const AVFrame& frame) {
  const AVFrameSideData* data = av_frame_get_side_data(&frame, AV_FRAME_DATA_DOVI_METADATA);
  if (data == nullptr) return 0;
  const auto* metadata = reinterpret_cast<const AVDOVIMetadata*>(data->data);
  const AVDOVIRpuDataHeader* header = av_dovi_get_header(metadata);
  return header->vdr_rpu_profile == 0 && header->bl_video_full_range_flag != 0 ? 5 : 0;
}

}  // namespace

std::string dolby_vision_note(const AVFrame& frame, const AVStream& stream) {
  std::size_t size = 0;
  const std::uint8_t* data = stream_side_data(stream, AV_PKT_DATA_DOVI_CONF, size);
  const auto* record = reinterpret_cast<const AVDOVIDecoderConfigurationRecord*>(data);
  int profile = profile_by_rpu(frame);
  int compatibility = 0;
  if (record != nullptr && size >= sizeof *record) {
    profile = record->dv_profile;
    compatibility = record->dv_bl_signal_compatibility_id;
  }
  if (!is_ipt(profile, compatibility)) return {};
  return fmt::format(
      "Dolby Vision profile {}: its samples are IPT-PQ, which is read as Y'CbCr: "
      "hues and brightness are wrong; convert it first",
      profile);
}

}  // namespace saccade
