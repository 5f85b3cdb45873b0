/* Compiled for each target, never linked: what pyconfig.h and _numpyconfig.h say here is true of it. */
#include <Python.h>
#include <numpy/ndarraytypes.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define TRUE_OF_THE_TARGET(what) _Static_assert(what, #what)

TRUE_OF_THE_TARGET(SIZEOF_INT == sizeof(int));
TRUE_OF_THE_TARGET(SIZEOF_LONG == sizeof(long));
TRUE_OF_THE_TARGET(SIZEOF_LONG_LONG == sizeof(long long));
TRUE_OF_THE_TARGET(SIZEOF_SIZE_T == sizeof(size_t));
TRUE_OF_THE_TARGET(SIZEOF_VOID_P == sizeof(void *));
TRUE_OF_THE_TARGET(SIZEOF_WCHAR_T == sizeof(wchar_t));
TRUE_OF_THE_TARGET(SIZEOF_TIME_T == sizeof(time_t));
TRUE_OF_THE_TARGET(sizeof(Py_ssize_t) == sizeof(size_t));
TRUE_OF_THE_TARGET(PY_SSIZE_T_MAX == SIZE_MAX / 2);
TRUE_OF_THE_TARGET(sizeof(Py_hash_t) == sizeof(size_t));

/* the stable ABI's layouts on a 64-bit system */
TRUE_OF_THE_TARGET(sizeof(PyObject) == 16);
TRUE_OF_THE_TARGET(offsetof(PyObject, ob_type) == 8);
TRUE_OF_THE_TARGET(sizeof(PyMethodDef) == 32);
TRUE_OF_THE_TARGET(sizeof(PyModuleDef) == 104);
TRUE_OF_THE_TARGET(sizeof(PyModuleDef_Slot) == 16);

TRUE_OF_THE_TARGET(NPY_SIZEOF_LONG == sizeof(long));
TRUE_OF_THE_TARGET(sizeof(npy_intp) == sizeof(void *));
TRUE_OF_THE_TARGET(sizeof(npy_int32) == 4 && sizeof(npy_int64) == 8);
TRUE_OF_THE_TARGET(sizeof(npy_float) == 4 && sizeof(npy_double) == 8);
TRUE_OF_THE_TARGET(sizeof(npy_longdouble) == NPY_SIZEOF_LONGDOUBLE);
