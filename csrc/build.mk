# What the core and the Python module are built from, and how. Everything that compiles them reads this file:
# csrc/Makefile includes it, setup.py (and through it the wheels' cross builds) reads it. One "NAME = words" a line,
# without references to other names. Compilers: GCC 11 or newer, or Clang.

# ---- the core: a library of plain C11
CORE_SOURCES = affine.c allocate.c check.c deform.c dispatch.c inverse.c joint_matrices.c names.c parallel.c maps.c regular.c rotation.c separate.c separation.c skeleton.c skin.c svd3.c tables.c weights.c workspace.c
# Each kernel turns on its own instruction set and fused multiply-add within its source, so it needs no flags of its own
# and any build system can compile it. Clang takes many minutes over them with sanitizers: KERNEL_CHECKS in csrc/Makefile.
KERNEL_SOURCES = kernel_avx2.c kernel_avx512.c kernel_baseline.c
# -ffp-contract=off: joint mathematics gives the same bits everywhere.
CORE_FLAGS = -std=c11 -ffp-contract=off -fno-math-errno
OPTIMISE = -O3
# -Wno-psabi: vectors are passed between inlined functions only.
WARNINGS = -Wall -Wextra -Wpedantic -Wconversion -Wno-psabi
THREADS = -pthread
LIBRARIES = -lm

# ---- the Python module: one binary of the stable ABI for Python 3.11 and newer, NumPy 1.23 and newer
MODULE_SOURCES = arguments.c deform_call.c joint_functions.c module.c skeleton_type.c skin_type.c
MODULE_FLAGS = -fvisibility=hidden
STABLE_ABI = Py_LIMITED_API=0x030B0000
MODULE_DEFINES = NPY_TARGET_VERSION=NPY_1_23_API_VERSION NPY_NO_DEPRECATED_API=NPY_1_23_API_VERSION
