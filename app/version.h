// The program's version, as CMake's project() states it.
#pragma once

namespace saccade {

const char* version();  // "0.2.0"

}  // namespace saccade
