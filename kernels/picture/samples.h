// Samples as painting takes them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/patch_batch.h"

namespace saccade {

// N x 3 x S x S samples of `format`, at any alignment, as R'G'B' in 0..255.
void to_codes(std::span<const std::byte> samples, int patch_size, const SampleFormat& format, std::vector<float>& out);

}  // namespace saccade
