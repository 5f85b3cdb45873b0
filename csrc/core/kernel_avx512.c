/* The kernel for AVX-512. */
#include "kernel.h"
#include "inverse.h"

#include <string.h>

#if TPS_X86_64
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw"))),                   \
                             apply_to = function)
#else
#pragma GCC target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")
#endif
#define F32_LANES 8
#define TPS_KERNEL tps_kernel_avx512
#include "kernel.inl"
#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
