// The parts of simd_ops(): each file replaces the operations it has.
#pragma once

#include "kernels/cpu/ops.h"

namespace saccade {

void use_simd_rows(CpuOps& ops);
void use_simd_mips(CpuOps& ops);
void use_simd_detail(CpuOps& ops);
void use_simd_sampler(CpuOps& ops);

// Which instruction set they run on here, by Highway's name of it: "AVX2", "AVX3", "NEON" ...
const char* simd_target();

}  // namespace saccade
