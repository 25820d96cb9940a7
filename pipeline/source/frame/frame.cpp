#include "pipeline/source/frame/frame.h"

extern "C" {
#include <libavutil/frame.h>
}

namespace saccade {

void AvFrameDeleter::operator()(AVFrame* frame) const noexcept { av_frame_free(&frame); }

}  // namespace saccade
