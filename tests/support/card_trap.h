// A card that fails, for tests of what a run makes of it.
#pragma once

namespace saccade::test {

// Launches a kernel that traps: from then on CUDA refuses every call of this process, as after a lost device. Other
// processes go on. A read of an address that is not mapped would do the same here, but on an H100 with driver 580 every
// later process that draws textures by OpenGL then waits 20 s and draws black.
void trap_card();

}  // namespace saccade::test
