#include "pipeline/source/frame/frame_source.h"

namespace saccade {

void throw_first_error(const FrameSource& source) {
  if (source.error_kind() == ErrorKind::kUnavailable) throw UnavailableError(source.error());
  throw InputError(source.error());
}

}  // namespace saccade
