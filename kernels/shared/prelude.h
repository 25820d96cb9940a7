// The common subset of C++20, CUDA and GLSL 4.5 in which kernels/shared is written: scalar functions and plain
// structs, no pointers, references or enums. Each language sees the same text; only this file differs.
//
// SACCADE_REAL before a function or a struct: `Real` is a template's parameter in C++ and CUDA, and float in GLSL;
// OF_REAL(Name) is that struct of the same Real.
#ifndef SACCADE_SHARED_PRELUDE_H_
#define SACCADE_SHARED_PRELUDE_H_

#if defined(__cplusplus)
#include <cmath>
#include <cstddef>
#include <cstring>
#if defined(__CUDACC__)
#define SACCADE_FN __host__ __device__ inline
#else
#define SACCADE_FN inline
#endif
#define SACCADE_CONST inline constexpr
#define SACCADE_REAL template <class Real>
#define OF_REAL(name) name<Real>
#define SACCADE_SHARED_BEGIN namespace saccade::shared {
#define SACCADE_SHARED_END }
SACCADE_SHARED_BEGIN
using uint = unsigned int;
SACCADE_FN float min(float a, float b) { return b < a ? b : a; }
SACCADE_FN double min(double a, double b) { return b < a ? b : a; }
SACCADE_FN float max(float a, float b) { return a < b ? b : a; }
SACCADE_FN float clamp(float x, float lo, float hi) { return min(max(x, lo), hi); }
SACCADE_FN float log2(float x) { return ::log2f(x); }
SACCADE_FN float exp2(float x) { return ::exp2f(x); }
SACCADE_FN float sqrt(float x) { return ::sqrtf(x); }
SACCADE_FN float floor(float x) { return ::floorf(x); }
SACCADE_FN double floor(double x) { return ::floor(x); }
SACCADE_FN uint floatBitsToUint(float x) {
  uint bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
SACCADE_FN float uintBitsToFloat(uint bits) {
  float x = 0;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
SACCADE_SHARED_END
#else  // GLSL has these functions built in
#define SACCADE_FN
#define SACCADE_CONST const
#define SACCADE_REAL
#define OF_REAL(name) name
#define Real float
#define SACCADE_SHARED_BEGIN
#define SACCADE_SHARED_END
#endif

#endif  // SACCADE_SHARED_PRELUDE_H_
