// A device that fails, for tests of what a run makes of it.
#pragma once

namespace saccade::test {

// Launches a kernel that traps, and waits for it: from then on CUDA refuses every call of this process, as after a lost
// device. Other processes go on. A read of an unmapped address would do the same here, but on an H100 with driver 580
// later processes that drew the viewer's picture by OpenGL then waited 20 s and read black.
#if defined(SACCADE_CUDA)
void trap_device();
#else
inline void trap_device() {}  // a build without CUDA has no device
#endif

}  // namespace saccade::test
