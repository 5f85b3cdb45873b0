/* NumPy's _numpyconfig.h of the machine that builds, with what differs between systems put right for the target. */
#include "_numpyconfig_host.h"

#include <stdio.h> /* NumPy uses FILE and takes for granted that Python.h brings it */

#undef NPY_SIZEOF_LONG
#define NPY_SIZEOF_LONG __SIZEOF_LONG__
#undef NPY_SIZEOF_WCHAR_T
#define NPY_SIZEOF_WCHAR_T __SIZEOF_WCHAR_T__

#undef NPY_HAVE_ENDIAN_H
#ifdef __linux__
#define NPY_HAVE_ENDIAN_H 1
#endif

#undef NPY_SIZEOF_LONGDOUBLE
#undef NPY_SIZEOF_COMPLEX_LONGDOUBLE
#undef NPY_SIZEOF_OFF_T
#undef NPY_VISIBILITY_HIDDEN
#ifdef _WIN32
/* NumPy for Windows is built by a compiler whose long double is a double. */
#define NPY_SIZEOF_LONGDOUBLE 8
#define NPY_SIZEOF_COMPLEX_LONGDOUBLE 16
#define NPY_SIZEOF_OFF_T 4
#define NPY_VISIBILITY_HIDDEN
#else
#define NPY_SIZEOF_LONGDOUBLE __SIZEOF_LONG_DOUBLE__
#define NPY_SIZEOF_COMPLEX_LONGDOUBLE (2 * __SIZEOF_LONG_DOUBLE__)
#define NPY_SIZEOF_OFF_T 8
#define NPY_VISIBILITY_HIDDEN __attribute__((visibility("hidden")))
#endif
