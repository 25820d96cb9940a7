// The reference sampler: explicit fetch and lerp, one sample at a time.
#pragma once

#include "kernels/cpu/ops.h"

namespace saccade {

void plain_sample_patch(const SampleSource& source, const Patch& patch, int size, const SampleFormat& format,
                        std::byte* out);

}  // namespace saccade
