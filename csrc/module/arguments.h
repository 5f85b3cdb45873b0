/* Python arguments to C arrays and back, and errors that name the argument.
 *
 * Every function here returns NULL (or -1) with a Python exception set where it fails. Messages read
 * "<argument>: <what it was>; expected <what it should be>". */
#ifndef TPS_ARGUMENTS_H
#define TPS_ARGUMENTS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define PY_ARRAY_UNIQUE_SYMBOL two_phase_skinning_numpy
#ifndef TPS_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include "tps.h"

/* What an argument's elements must be, and what they are converted to. */
typedef enum element_kind {
    REAL_64,    /* real numbers -> double */
    REAL_32,    /* real numbers -> float */
    INTEGER_64, /* integers -> int64_t */
    TRUTH       /* bool -> uint8_t */
} element_kind;

#define ANY (-1)

/* Gives up a reference; NULL is allowed. */
static inline void release_array(PyArrayObject *array)
{
    Py_XDECREF((PyObject *)array);
}

/* A new reference to a C-contiguous, aligned array of the wanted kind and shape. ANY in `shape` admits every length; it
 * is printed as the letter that stands at its place in `letters`. Takes whatever NumPy reads, and DLPack. */
PyArrayObject *array_argument(PyObject *value, const char *name, element_kind kind, int ndim, const npy_intp *shape,
                              const char *letters);

/* The same, or a stack of such arrays, one for each frame: then shape[0] is the number of frames, and the rest of it
 * the shape of one. The array's ndim tells which it is. */
PyArrayObject *array_by_frame(PyObject *value, const char *name, element_kind kind, int ndim, const npy_intp *shape,
                              const char *letters, int frames_allowed);

/* array_argument for an argument that may be None or absent: *array is NULL then. Returns 0, or -1 with an error. */
int optional_array(PyObject *value, const char *name, element_kind kind, int ndim, const npy_intp *shape,
                   const char *letters, PyArrayObject **array);

/* (J, 4, 4) or (F, J, 4, 4) finite affine matrices; the array's ndim tells which. joint_count may be ANY. */
PyArrayObject *matrices_argument(PyObject *value, const char *name, npy_intp joint_count, int frames_allowed);

/* One finite (4, 4) affine matrix; with frames_allowed (F, 4, 4), for that many frames (ANY: any number). */
PyArrayObject *matrix_argument(PyObject *value, const char *name, int frames_allowed, npy_intp frame_count);

/* parents as int32 of a checked range and without cycles, in memory of PyMem_Malloc, and J. With `order`, J more: the
 * joints, parents first. */
int32_t *parents_argument(PyObject *value, npy_intp joint_count, npy_intp *length, int32_t **order);

/* An int, or what has __index__, such as NumPy's integers; no bool. What int64 cannot hold is clipped. 0, or -1 with an
 * error that says `expected`. */
int integer_argument(PyObject *value, const char *name, const char *expected, int64_t *integer);

/* bool or numpy.bool: 0 or 1; -1 with an error. */
int truth_argument(PyObject *value, const char *name);

/* The number of a word, by a function that names them (such as tps_method_name), or -1 with an error that lists them.
 */
int word_argument(PyObject *value, const char *name, const char *(*word)(int number));

enum { RANGE_TEXT = 48 };
/* What is expected of a joint's number: "0..4", or words where there are no joints. */
const char *joint_range(char text[RANGE_TEXT], int64_t joint_count);

/* `out` if it is fit to be written: float32, C-contiguous, writeable, of this shape, sharing no memory with the
 * `others`, which are inputs or outputs too. A new array where out is None. Also what speaks DLPack. */
PyArrayObject *output_argument(PyObject *out, const char *name, int ndim, const npy_intp *shape,
                               PyArrayObject *const *others, int other_count);

/* Raises for a status other than TPS_OK. `name` is the argument that was being read. Returns NULL. */
PyObject *raise_status(tps_status status, const char *name, int64_t where);

/* Sets an error where a float array has a value that is not finite; `name` as above. */
int check_finite(PyArrayObject *array, const char *name);

#endif
