/* Which kernels this processor can run. */
#include "kernel.h"

#if TPS_X86_64
#include <cpuid.h>

/* The compiler's own test for this is missing or always says no with some compilers, so: CPUID and XGETBV, as the
 * processor manuals say to use them. The operating system must save the registers too. */
static int x86_level(void)
{
    unsigned a, b, c, d, xcr0_low, xcr0_high;
    if (!__get_cpuid(1, &a, &b, &c, &d)) {
        return 0;
    }
    const unsigned fma = 1u << 12, osxsave = 1u << 27, avx = 1u << 28;
    if ((c & (fma | osxsave | avx)) != (fma | osxsave | avx)) {
        return 0;
    }
    __asm__ volatile("xgetbv" : "=a"(xcr0_low), "=d"(xcr0_high) : "c"(0));
    const unsigned ymm = 0x6, zmm = 0xe6, avx2 = 1u << 5, avx512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;
    if ((xcr0_low & ymm) != ymm || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & avx2)) {
        return 0;
    }
    return (xcr0_low & zmm) == zmm && (b & avx512) == avx512 ? 2 : 1;
}
#endif

typedef struct kernel {
    const char *name;
    tps_kernel run;
} kernel;

static const kernel kernels[] = {
#if TPS_X86_64
    {"avx512", tps_kernel_avx512},
    {"avx2", tps_kernel_avx2},
    {"sse2", tps_kernel_baseline},
#elif defined(__aarch64__)
    {"neon", tps_kernel_baseline},
#else
    {"portable", tps_kernel_baseline},
#endif
};

/* The index-th kernel that can be run here, best first, or NULL. */
static const kernel *find(int index)
{
    int count = (int)(sizeof kernels / sizeof *kernels), skip = 0;
#if TPS_X86_64
    skip = count - 1 - x86_level();
#endif
    return index >= 0 && index < count - skip ? &kernels[skip + index] : NULL;
}

const char *tps_kernel_name(int index)
{
    const kernel *found = find(index);
    return found ? found->name : NULL;
}

tps_kernel tps_kernel_function(int index)
{
    const kernel *found = find(index);
    return found ? found->run : NULL;
}
