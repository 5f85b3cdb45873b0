/* The kernel for every processor of the architecture: SSE2 on x86-64, NEON on arm64. */
#define F32_LANES 4
#define TPS_KERNEL tps_kernel_baseline
#include "kernel.inl"
