// How long a saccade takes and where the eye is during it.
#ifndef SACCADE_SHARED_OCULOMOTOR_H_
#define SACCADE_SHARED_OCULOMOTOR_H_
#include "prelude.h"

SACCADE_SHARED_BEGIN

// Main sequence: 21 ms + 2.2 ms per degree of amplitude (Carpenter 1988).
SACCADE_FN float saccade_duration_s(float amplitude_deg) { return 0.021f + 0.0022f * amplitude_deg; }

// Minimum-jerk position, 0..1 over t = 0..1: 10 t^3 - 15 t^4 + 6 t^5 (Flash and Hogan 1985).
SACCADE_FN float minimum_jerk(float t) {
  float s = clamp(t, 0.0f, 1.0f);
  return s * s * s * (10.0f + s * (6.0f * s - 15.0f));
}

SACCADE_SHARED_END
#endif  // SACCADE_SHARED_OCULOMOTOR_H_
