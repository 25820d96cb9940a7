// How many cores this process may use.
#pragma once

namespace saccade {

// By its affinity and its control group's quota, at least 1: a container has fewer than its host.
int usable_cores();

}  // namespace saccade
