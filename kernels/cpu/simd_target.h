// Which instruction set the SIMD operations run on here.
#pragma once

namespace saccade {

const char* simd_target();  // Highway's name of it: "AVX2", "AVX3", "NEON" ...

}  // namespace saccade
