/* The kernel for AVX2 and FMA. */
#include "kernel.h"
#include "inverse.h"

#include <string.h>

#if TPS_X86_64
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#define F32_LANES 8
#define TPS_KERNEL tps_kernel_avx2
#include "kernel.inl"
#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
