// How far a grid reaches.
#pragma once

namespace saccade::tensor::cuda {

inline constexpr int kMostBlocks = 65535;  // along y, and along z

}  // namespace saccade::tensor::cuda
