/* Stands in for the pyconfig.h of the machine that builds, which says what is true of that machine alone. What the
 * headers of Python read from it for the limited API, on the 64-bit systems that Blender runs on; check_headers.c
 * compares. */
#ifndef Py_PYCONFIG_H
#define Py_PYCONFIG_H

#define SIZEOF_SHORT __SIZEOF_SHORT__
#define SIZEOF_INT __SIZEOF_INT__
#define SIZEOF_LONG __SIZEOF_LONG__
#define SIZEOF_LONG_LONG __SIZEOF_LONG_LONG__
#define SIZEOF_SIZE_T __SIZEOF_SIZE_T__
#define SIZEOF_VOID_P __SIZEOF_POINTER__
#define SIZEOF_WCHAR_T __SIZEOF_WCHAR_T__
#define SIZEOF_FLOAT __SIZEOF_FLOAT__
#define SIZEOF_DOUBLE __SIZEOF_DOUBLE__
#define ALIGNOF_MAX_ALIGN_T __BIGGEST_ALIGNMENT__

#define HAVE_STDDEF_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_WCHAR_H 1
#define WITH_THREAD 1

#ifdef _WIN32
#define MS_WINDOWS 1
#define MS_WIN32 1
#define MS_WIN64 1
#define NT_THREADS 1
#define HAVE_IO_H 1
#define HAVE_DECLSPEC_DLL 1
#define Py_ENABLE_SHARED 1 /* Python's variables are imported from its DLL */
#define SIZEOF_OFF_T 4
#define SIZEOF_TIME_T 8
#define SIZEOF_PID_T 4
#define HAVE_PY_SSIZE_T 1
#define PY_SSIZE_T_MAX __INT64_MAX__
typedef __INT64_TYPE__ Py_ssize_t;
#else
#define HAVE_UNISTD_H 1
#define HAVE_SSIZE_T 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_SELECT_H 1
#define HAVE_GCC_UINT128_T 1
#define SIZEOF_OFF_T 8
#define SIZEOF_TIME_T 8
#define SIZEOF_PID_T 4
#endif

#endif
