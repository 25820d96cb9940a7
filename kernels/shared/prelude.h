// The common subset of C++20, CUDA and GLSL 4.5 in which kernels/shared is written: scalar functions and plain
// structs, no pointers, references, templates or enums. Each language sees the same text; only this file differs.
#ifndef SACCADE_SHARED_PRELUDE_H_
#define SACCADE_SHARED_PRELUDE_H_

#if defined(__cplusplus)
#include <cmath>
#include <cstddef>
#if defined(__CUDACC__)
#define SACCADE_FN __host__ __device__ inline
#else
#define SACCADE_FN inline
#endif
#define SACCADE_SHARED_BEGIN namespace saccade::shared {
#define SACCADE_SHARED_END }
SACCADE_SHARED_BEGIN
SACCADE_FN float min(float a, float b) { return b < a ? b : a; }
SACCADE_FN float max(float a, float b) { return a < b ? b : a; }
SACCADE_FN float clamp(float x, float lo, float hi) { return min(max(x, lo), hi); }
SACCADE_FN float log2(float x) { return ::log2f(x); }
SACCADE_FN float exp2(float x) { return ::exp2f(x); }
SACCADE_FN float sqrt(float x) { return ::sqrtf(x); }
SACCADE_FN float floor(float x) { return ::floorf(x); }
SACCADE_SHARED_END
#else  // GLSL has these functions built in
#define SACCADE_FN
#define SACCADE_SHARED_BEGIN
#define SACCADE_SHARED_END
#endif

#endif  // SACCADE_SHARED_PRELUDE_H_
