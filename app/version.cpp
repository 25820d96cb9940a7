#include "app/version.h"

namespace saccade {

const char* version() { return SACCADE_VERSION; }

}  // namespace saccade
