#include "arguments.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TEXT 160

/* "(5, 4, 4)", with a letter where the length is ANY. */
static const char *shape_text(char *text, int ndim, const npy_intp *shape, const char *letters)
{
    size_t used = (size_t)snprintf(text, TEXT, "(");
    for (int i = 0; i < ndim && used < TEXT - 32; i++) {
        const char *separator = i + 1 < ndim ? ", " : ndim == 1 ? "," : "";
        if (shape[i] == ANY) {
            used += (size_t)snprintf(text + used, TEXT - used, "%c%s", letters[i], separator);
        } else {
            used += (size_t)snprintf(text + used, TEXT - used, "%lld%s", (long long)shape[i], separator);
        }
    }
    snprintf(text + used, TEXT - used, ")");
    return text;
}

static int fits(PyArrayObject *array, int ndim, const npy_intp *shape)
{
    int good = PyArray_NDIM(array) == ndim;
    for (int i = 0; good && i < ndim; i++) {
        good = shape[i] == ANY || shape[i] == PyArray_DIM(array, i);
    }
    return good;
}

static PyArrayObject *check_shape(PyArrayObject *array, const char *name, int ndim, const npy_intp *shape,
                                  const char *letters)
{
    char was[TEXT], expected[TEXT];
    if (!array || fits(array, ndim, shape)) {
        return array;
    }
    PyErr_Format(PyExc_ValueError, "%s: shape %s; expected %s", name,
                 shape_text(was, PyArray_NDIM(array), PyArray_DIMS(array), NULL),
                 shape_text(expected, ndim, shape, letters));
    Py_DECREF(array);
    return NULL;
}

/* What an object says that it cannot be read as an array, with the argument's name in front: a ValueError stays one,
 * everything else, such as torch's RuntimeError, becomes a TypeError. Memory that is not there and what is no
 * Exception, such as KeyboardInterrupt, passes as it is. */
static void name_the_error(const char *name)
{
    if (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_MemoryError)) {
        return;
    }
    PyObject *kind = PyErr_ExceptionMatches(PyExc_ValueError) ? PyExc_ValueError : PyExc_TypeError;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyErr_Format(kind, "%s: cannot be read as an array (%S); expected an array of numbers", name, value);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
}

static int has_attribute(PyObject *value, const char *attribute)
{
    PyObject *found = PyObject_GetAttrString(value, attribute);
    if (!found) {
        PyErr_Clear();
    }
    Py_XDECREF(found);
    return found != NULL;
}

/* An object that NumPy cannot read by itself, but that offers its memory by DLPack? */
static int needs_dlpack(PyObject *value)
{
    return !PyArray_Check(value) && !PyList_Check(value) && !PyTuple_Check(value) && !PyObject_CheckBuffer(value) &&
           !has_attribute(value, "__array__") && !has_attribute(value, "__array_interface__") &&
           has_attribute(value, "__dlpack__");
}

/* A function of NumPy, called with one argument. */
static PyObject *numpy_call(const char *module_name, const char *function, PyObject *argument)
{
    PyObject *module = PyImport_ImportModule(module_name);
    PyObject *result = module ? PyObject_CallMethod(module, function, "O", argument) : NULL;
    Py_XDECREF(module);
    return result;
}

/* 1 for a masked array with something masked, which NumPy would read as if it were not; -1 with an error. */
static int is_masked(PyObject *value)
{
    if (!PyArray_Check(value) || PyArray_CheckExact(value) || !has_attribute(value, "mask")) {
        return 0;
    }
    PyObject *masked = numpy_call("numpy.ma", "is_masked", value);
    int is = masked ? PyObject_IsTrue(masked) : -1;
    Py_XDECREF(masked);
    return is;
}

/* The same of the entries of a list, such as the frames of a pose. */
static int any_masked(PyObject *value)
{
    int masked = is_masked(value);
    if (masked == 0 && (PyList_Check(value) || PyTuple_Check(value))) {
        for (Py_ssize_t i = 0; masked == 0 && i < PySequence_Size(value); i++) {
            PyObject *entry = PySequence_GetItem(value, i);
            masked = entry ? is_masked(entry) : -1;
            Py_XDECREF(entry);
        }
    }
    return masked;
}

static int right_elements(PyArrayObject *array, element_kind kind)
{
    int type = PyArray_TYPE(array);
    switch (kind) {
    case REAL_64:
    case REAL_32:
        return PyTypeNum_ISINTEGER(type) || PyTypeNum_ISFLOAT(type);
    case INTEGER_64:
        return PyTypeNum_ISINTEGER(type) || PyArray_SIZE(array) == 0; /* [] has no integers, but no others either */
    case TRUTH:
        return PyTypeNum_ISBOOL(type) || PyArray_SIZE(array) == 0;
    }
    return 0;
}

static PyArrayObject *cast(PyArrayObject *array, int type)
{
    return (PyArrayObject *)PyArray_FromArray(array, PyArray_DescrFromType(type),
                                              NPY_ARRAY_CARRAY_RO | NPY_ARRAY_NOTSWAPPED | NPY_ARRAY_FORCECAST);
}

/* The row of an array that holds its flat element `at`. */
static long long row_of(PyArrayObject *array, int64_t at)
{
    npy_intp rows = PyArray_NDIM(array) > 0 ? PyArray_DIM(array, 0) : 0;
    return rows > 0 ? (long long)(at / (PyArray_SIZE(array) / rows)) : 0;
}

/* Unsigned integers that int64 cannot hold have become negative. */
static PyArrayObject *cast_integers(PyArrayObject *array, const char *name)
{
    PyArrayObject *integers = cast(array, NPY_INT64);
    const int64_t *values = integers && PyTypeNum_ISUNSIGNED(PyArray_TYPE(array)) ? PyArray_DATA(integers) : NULL;
    for (npy_intp i = 0; values && i < PyArray_SIZE(integers); i++) {
        if (values[i] < 0) {
            PyErr_Format(PyExc_ValueError, "%s: row %lld is beyond 2**63 - 1; expected a smaller integer", name,
                         row_of(integers, i));
            Py_CLEAR(integers);
            break;
        }
    }
    return integers;
}

/* float64 -> float32, refusing what would become infinite (NumPy would warn, and go on). */
static PyArrayObject *cast_to_float(PyArrayObject *array, const char *name)
{
    if (PyArray_TYPE(array) == NPY_FLOAT) {
        return cast(array, NPY_FLOAT);
    }
    PyArrayObject *wide = cast(array, NPY_DOUBLE);
    PyArrayObject *narrow =
        wide ? (PyArrayObject *)PyArray_SimpleNew(PyArray_NDIM(wide), PyArray_DIMS(wide), NPY_FLOAT) : NULL;
    const double *from = narrow ? PyArray_DATA(wide) : NULL;
    float *to = narrow ? PyArray_DATA(narrow) : NULL;
    for (npy_intp i = 0; narrow && i < PyArray_SIZE(wide); i++) {
        to[i] = (float)from[i];
        if (isinf(to[i]) && isfinite(from[i])) {
            PyErr_Format(PyExc_ValueError, "%s: row %lld is beyond the range of float32; expected smaller numbers",
                         name, row_of(wide, i));
            Py_CLEAR(narrow);
        }
    }
    release_array(wide);
    return narrow;
}

static PyArrayObject *read_any_array(PyObject *value, const char *name)
{
    int masked = any_masked(value);
    if (masked > 0) {
        PyErr_Format(PyExc_ValueError, "%s: has masked elements; expected an array without a mask", name);
        return NULL;
    }
    PyObject *array = NULL;
    if (masked == 0) {
        array = needs_dlpack(value) ? numpy_call("numpy", "from_dlpack", value) : PyArray_FROM_O(value);
    }
    if (!array) {
        name_the_error(name);
    }
    return (PyArrayObject *)array;
}

/* An array whose elements are of the kind that is wanted, but not yet converted. */
static PyArrayObject *read_array(PyObject *value, const char *name, element_kind kind)
{
    static const char *const expected[] = {"real numbers", "real numbers", "integers", "bool"};
    PyArrayObject *array = read_any_array(value, name);
    if (array && !right_elements(array, kind)) {
        PyErr_Format(PyExc_TypeError, "%s: dtype %S; expected %s", name, (PyObject *)PyArray_DESCR(array),
                     expected[kind]);
        Py_CLEAR(array);
    }
    return array;
}

/* Converts what read_array gave, and gives that up. The shape is checked before: what is refused is not copied first.
 */
static PyArrayObject *convert(PyArrayObject *array, const char *name, element_kind kind)
{
    PyArrayObject *converted = NULL;
    if (!array) {
        return NULL;
    }
    if (kind == REAL_32) {
        converted = cast_to_float(array, name);
    } else if (kind == INTEGER_64) {
        converted = cast_integers(array, name);
    } else {
        converted = cast(array, kind == REAL_64 ? NPY_DOUBLE : NPY_BOOL);
    }
    Py_DECREF(array);
    return converted;
}

PyArrayObject *array_argument(PyObject *value, const char *name, element_kind kind, int ndim, const npy_intp *shape,
                              const char *letters)
{
    return convert(check_shape(read_array(value, name, kind), name, ndim, shape, letters), name, kind);
}

PyArrayObject *array_by_frame(PyObject *value, const char *name, element_kind kind, int ndim, const npy_intp *shape,
                              const char *letters, int frames_allowed)
{
    PyArrayObject *array = read_array(value, name, kind);
    int stacked = array && frames_allowed && PyArray_NDIM(array) == ndim + 1;
    array = stacked ? check_shape(array, name, ndim + 1, shape, letters)
                    : check_shape(array, name, ndim, shape + 1, letters + 1);
    return convert(array, name, kind);
}

int optional_array(PyObject *value, const char *name, element_kind kind, int ndim, const npy_intp *shape,
                   const char *letters, PyArrayObject **array)
{
    *array = NULL;
    if (!value || value == Py_None) {
        return 0;
    }
    *array = array_argument(value, name, kind, ndim, shape, letters);
    return *array ? 0 : -1;
}

/* "0 0 0.5 1": a matrix's last row. */
static const char *row_text(char *text, const double *row)
{
    snprintf(text, TEXT, "%.9g %.9g %.9g %.9g", row[0], row[1], row[2], row[3]);
    return text;
}

static void raise_matrix(tps_status status, const char *where, const double *matrix)
{
    char row[TEXT];
    if (status == TPS_LAST_ROW) {
        PyErr_Format(PyExc_ValueError,
                     "%s has the last row %s; expected 0 0 0 1 to 1e-5 (matrices are for column vectors: transpose "
                     "those for row vectors)",
                     where, row_text(row, matrix + 12));
    } else {
        PyErr_Format(PyExc_ValueError, "%s is not finite; expected finite numbers", where);
    }
}

/* Refuses, in words, an array of matrices of which one is not affine; else hands it on. `joints`: the matrices of a
 * frame, or 0 where there are no joints. `stacked`: the frame is named. */
static PyArrayObject *check_matrices(PyArrayObject *array, const char *name, npy_intp joints, int stacked)
{
    int64_t where = -1;
    tps_status status = array ? tps_check_affine(PyArray_SIZE(array) / 16, PyArray_DATA(array), &where) : TPS_OK;
    if (status == TPS_OK) {
        return array;
    }
    char place[2 * TEXT];
    int used = snprintf(place, TEXT, "%s:", name);
    npy_intp of_a_frame = joints > 0 ? joints : 1;
    if (stacked) {
        used += snprintf(place + used, TEXT, " frame %lld%s", (long long)(where / of_a_frame), joints > 0 ? ":" : "");
    }
    if (joints > 0) {
        snprintf(place + used, TEXT - 32, " joint %lld", (long long)(where % of_a_frame));
    }
    raise_matrix(status, place, (const double *)PyArray_DATA(array) + 16 * where);
    Py_DECREF(array);
    return NULL;
}

PyArrayObject *matrices_argument(PyObject *value, const char *name, npy_intp joint_count, int frames_allowed)
{
    const npy_intp shape[] = {ANY, joint_count, 4, 4};
    PyArrayObject *array = array_by_frame(value, name, REAL_64, 3, shape, "FJ44", frames_allowed);
    int stacked = array && PyArray_NDIM(array) == 4;
    return check_matrices(array, name, array ? PyArray_DIM(array, stacked) : 0, stacked);
}

PyArrayObject *matrix_argument(PyObject *value, const char *name, int frames_allowed, npy_intp frame_count)
{
    const npy_intp shape[] = {frame_count, 4, 4};
    PyArrayObject *array = array_by_frame(value, name, REAL_64, 2, shape, "F44", frames_allowed);
    return check_matrices(array, name, 0, array && PyArray_NDIM(array) == 3);
}

int32_t *parents_argument(PyObject *value, npy_intp joint_count, npy_intp *length, int32_t **order)
{
    const npy_intp shape[] = {joint_count};
    PyArrayObject *array = check_shape(read_array(value, "parents", INTEGER_64), "parents", 1, shape, "J");
    if (!array) {
        return NULL;
    }
    npy_intp count = PyArray_DIM(array, 0);
    if (count > INT32_MAX / 2) {
        PyErr_Format(PyExc_ValueError, "parents: %zd joints; expected at most %d", (Py_ssize_t)count, INT32_MAX / 2);
        Py_DECREF(array);
        return NULL;
    }
    if (!(array = convert(array, "parents", INTEGER_64))) {
        return NULL;
    }
    const int64_t *given = PyArray_DATA(array);
    int32_t *parents = PyMem_Malloc((size_t)(2 * count + 1) * sizeof *parents);
    if (!parents) {
        PyErr_NoMemory();
    }
    for (npy_intp j = 0; parents && j < count; j++) {
        if (given[j] < -1 || given[j] >= count) {
            PyErr_Format(PyExc_ValueError, "parents: joint %zd has parent %lld; expected -1 or 0..%zd", (Py_ssize_t)j,
                         (long long)given[j], (Py_ssize_t)count - 1);
            PyMem_Free(parents);
            parents = NULL;
            break;
        }
        parents[j] = (int32_t)given[j];
    }
    Py_DECREF(array);
    if (!parents) {
        return NULL;
    }
    int64_t where = -1;
    tps_status status = tps_parents_first((int32_t)count, parents, parents + count, &where);
    if (status != TPS_OK) {
        PyMem_Free(parents);
        raise_status(status, "parents", where);
        return NULL;
    }
    *length = count;
    if (order) {
        *order = parents + count;
    }
    return parents;
}

int integer_argument(PyObject *value, const char *name, const char *expected, int64_t *integer)
{
    if (PyBool_Check(value) || PyArray_IsScalar(value, Bool) || !PyIndex_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s: %S; expected %s", name, (PyObject *)Py_TYPE(value), expected);
        return -1;
    }
    PyObject *number = PyNumber_Index(value);
    if (!number) {
        return -1; /* what __index__ raised */
    }
    int overflow;
    *integer = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (overflow) {
        *integer = overflow < 0 ? INT64_MIN : INT64_MAX;
    }
    Py_DECREF(number);
    return 0;
}

int truth_argument(PyObject *value, const char *name)
{
    if (!PyBool_Check(value) && !PyArray_IsScalar(value, Bool)) {
        PyErr_Format(PyExc_TypeError, "%s: %R; expected True or False", name, value);
        return -1;
    }
    return PyObject_IsTrue(value);
}

int word_argument(PyObject *value, const char *name, const char *(*word)(int number))
{
    char list[TEXT] = "";
    for (int i = 0; word(i); i++) {
        if (PyUnicode_Check(value) && PyUnicode_CompareWithASCIIString(value, word(i)) == 0) {
            return i;
        }
        size_t used = strlen(list);
        snprintf(list + used, TEXT - used, "%s\"%s\"", i == 0 ? "" : word(i + 1) ? ", " : " or ", word(i));
    }
    PyErr_Format(PyUnicode_Check(value) ? PyExc_ValueError : PyExc_TypeError, "%s: %R; expected %s", name, value, list);
    return -1;
}

const char *joint_range(char text[RANGE_TEXT], int64_t joint_count)
{
    if (joint_count > 0) {
        snprintf(text, RANGE_TEXT, "0..%lld", (long long)joint_count - 1);
    } else {
        snprintf(text, RANGE_TEXT, "none, since there are no joints");
    }
    return text;
}

static int overlap(PyArrayObject *a, PyArrayObject *b)
{
    const char *a_begin = PyArray_DATA(a), *b_begin = PyArray_DATA(b);
    return a_begin < b_begin + PyArray_NBYTES(b) && b_begin < a_begin + PyArray_NBYTES(a);
}

/* What is wrong with an `out` of the right shape, or NULL. */
static const char *unfit(PyArrayObject *out, PyArrayObject *const *others, int other_count)
{
    if (!PyArray_IS_C_CONTIGUOUS(out) || !PyArray_ISALIGNED(out)) {
        return "not C-contiguous; expected a C-contiguous array";
    }
    if (!PyArray_ISWRITEABLE(out)) {
        return "read-only; expected a writeable array";
    }
    for (int i = 0; i < other_count; i++) {
        if (others[i] && overlap(out, others[i])) {
            return "shares memory with another argument; expected memory of its own";
        }
    }
    return NULL;
}

/* A new reference to the array that is to be written: `out` itself, or its memory by DLPack. */
static PyArrayObject *output_array(PyObject *out, const char *name)
{
    if (PyArray_Check(out)) {
        return (PyArrayObject *)Py_NewRef(out);
    }
    if (!has_attribute(out, "__dlpack__")) {
        PyErr_Format(PyExc_TypeError, "%s: %S; expected a NumPy array or None", name, (PyObject *)Py_TYPE(out));
        return NULL;
    }
    PyObject *array = numpy_call("numpy", "from_dlpack", out);
    if (!array) {
        name_the_error(name);
    }
    return (PyArrayObject *)array;
}

PyArrayObject *output_argument(PyObject *out, const char *name, int ndim, const npy_intp *shape,
                               PyArrayObject *const *others, int other_count)
{
    if (!out || out == Py_None) {
        return (PyArrayObject *)PyArray_SimpleNew(ndim, shape, NPY_FLOAT);
    }
    PyArrayObject *array = output_array(out, name);
    if (!array) {
        return NULL;
    }
    if (PyArray_TYPE(array) != NPY_FLOAT || !PyArray_ISNOTSWAPPED(array)) {
        PyErr_Format(PyExc_TypeError, "%s: dtype %S; expected float32", name, (PyObject *)PyArray_DESCR(array));
        Py_DECREF(array);
        return NULL;
    }
    if (!check_shape(array, name, ndim, shape, NULL)) {
        return NULL; /* has released it */
    }
    const char *fault = unfit(array, others, other_count);
    if (fault) {
        PyErr_Format(PyExc_ValueError, "%s: %s", name, fault);
        Py_DECREF(array);
        return NULL;
    }
    return array;
}

PyObject *raise_status(tps_status status, const char *name, int64_t where)
{
    char place[64] = "";
    if (where >= 0) {
        snprintf(place, sizeof place, "joint %lld ", (long long)where);
    }
    switch (status) {
    case TPS_NO_MEMORY:
        return PyErr_NoMemory();
    case TPS_PARENT_CYCLE:
        return PyErr_Format(PyExc_ValueError, "%s: %sis its own ancestor; expected no cycles", name, place);
    case TPS_SINGULAR_BIND:
    case TPS_SINGULAR_SPACE:
        return PyErr_Format(PyExc_ValueError, "%s: %scannot be inverted; expected a regular matrix", name, place);
    case TPS_WEIGHT_ROWS:
        return PyErr_Format(PyExc_ValueError,
                            "%s: indptr is wrong at %lld; expected numbers that start at 0, never fall, and end at the "
                            "number of weights",
                            name, (long long)where);
    case TPS_TOO_MANY_JOINTS:
        return PyErr_Format(PyExc_ValueError, "%s: more than 65536 joints with weights; expected at most 65536", name);
    case TPS_KERNEL_RANGE:
        return PyErr_Format(PyExc_ValueError, "kernel: %lld; expected one that this machine has", (long long)where);
    default: /* the others are refused before the core sees them, in words of their own */
        return PyErr_Format(PyExc_SystemError, "%s: %s", name, tps_status_text(status));
    }
}

int check_finite(PyArrayObject *array, const char *name)
{
    int64_t where = -1;
    tps_status status = PyArray_TYPE(array) == NPY_FLOAT
                            ? tps_check_finite_f32(PyArray_SIZE(array), PyArray_DATA(array), &where)
                            : tps_check_finite_f64(PyArray_SIZE(array), PyArray_DATA(array), &where);
    if (status == TPS_OK) {
        return 0;
    }
    PyErr_Format(PyExc_ValueError, "%s: row %lld is not finite; expected finite numbers", name, row_of(array, where));
    return -1;
}
