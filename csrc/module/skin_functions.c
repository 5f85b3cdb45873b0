/* Skins, held in capsules. */
#include "capsules.h"
#include "functions.h"

#include <string.h>

static void release(PyObject *capsule)
{
    tps_skin_free(PyCapsule_GetPointer(capsule, SKIN_CAPSULE));
}

/* Points or normals: (V, 3) float32, finite. */
static PyArrayObject *vectors_argument(PyObject *value, const char *name, npy_intp vertex_count)
{
    const npy_intp shape[] = {vertex_count, 3};
    PyArrayObject *array = array_argument(value, name, REAL_32, 2, shape, "V3");
    if (array && check_finite(array, name)) {
        Py_CLEAR(array);
    }
    return array;
}

typedef struct mesh_arrays {
    PyArrayObject *points, *normals, *row_start, *joints, *weights;
} mesh_arrays;

static int read_mesh(mesh_arrays *m, PyObject *points, PyObject *normals, PyObject *row_start, PyObject *joints,
                     PyObject *weights)
{
    if (!(m->points = vectors_argument(points, "points", ANY))) {
        return -1;
    }
    npy_intp vertex_count = PyArray_DIM(m->points, 0), starts = vertex_count + 1, any = ANY;
    if (normals != Py_None && !(m->normals = vectors_argument(normals, "normals", vertex_count))) {
        return -1;
    }
    m->row_start = array_argument(row_start, "weights: indptr", INTEGER_64, 1, &starts, "V");
    m->joints = m->row_start ? array_argument(joints, "weights: indices", INTEGER_64, 1, &any, "N") : NULL;
    if (!m->joints) {
        return -1;
    }
    npy_intp entries = PyArray_DIM(m->joints, 0);
    m->weights = array_argument(weights, "weights", REAL_64, 1, &entries, "N");
    return m->weights ? 0 : -1;
}

/* The vertex whose row holds an entry. */
static long long vertex_of(const tps_mesh *mesh, int64_t entry)
{
    int64_t vertex = 0;
    while (mesh->row_start[vertex + 1] <= entry) {
        vertex++;
    }
    return (long long)vertex;
}

static PyObject *raise_weights(tps_status status, const tps_mesh *mesh, int64_t where)
{
    switch (status) {
    case TPS_WEIGHT_JOINT_RANGE:
        return PyErr_Format(PyExc_ValueError, "weights: vertex %lld has joint %lld; expected 0..%d",
                            vertex_of(mesh, where), (long long)mesh->joints[where], (int)mesh->joint_count - 1);
    case TPS_NOT_FINITE:
        return PyErr_Format(PyExc_ValueError,
                            "weights: vertex %lld has one that is not finite; expected finite numbers",
                            vertex_of(mesh, where));
    case TPS_WEIGHT_NEGATIVE:
        return PyErr_Format(PyExc_ValueError, "weights: vertex %lld has a negative one; expected 0 or more",
                            vertex_of(mesh, where));
    default:
        return raise_status(status, "weights", where);
    }
}

static PyObject *make_skin(const mesh_arrays *m, int joint_count, int normalised, int kernel)
{
    tps_mesh mesh = {.vertex_count = PyArray_DIM(m->points, 0),
                     .joint_count = joint_count,
                     .points = PyArray_DATA(m->points),
                     .normals = m->normals ? PyArray_DATA(m->normals) : NULL,
                     .row_start = PyArray_DATA(m->row_start),
                     .entry_count = PyArray_DIM(m->joints, 0),
                     .joints = PyArray_DATA(m->joints),
                     .weights = PyArray_DATA(m->weights),
                     .normalised = normalised,
                     .kernel = kernel};
    tps_skin *skin = NULL;
    int64_t where = -1;
    tps_status status;
    Py_BEGIN_ALLOW_THREADS status = tps_skin_create(&mesh, &skin, &where);
    Py_END_ALLOW_THREADS if (status != TPS_OK)
    {
        return raise_weights(status, &mesh, where);
    }
    PyObject *capsule = PyCapsule_New(skin, SKIN_CAPSULE, release);
    if (!capsule) {
        tps_skin_free(skin);
    }
    return capsule;
}

const char skin_doc[] = "skin(points, normals, row_start, joints, weights, joint_count, normalised, kernel=0)\n--\n\n"
                        "Makes the core's skin from weights in compressed rows, in a capsule.";

PyObject *py_skin(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    static char *names[] = {"points",      "normals",    "row_start", "joints", "weights",
                            "joint_count", "normalised", "kernel",    NULL};
    PyObject *points, *normals, *row_start, *joints, *weights, *capsule = NULL;
    int joint_count, normalised, kernel = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOOOip|i:skin", names, &points, &normals, &row_start, &joints,
                                     &weights, &joint_count, &normalised, &kernel)) {
        return NULL;
    }
    if (joint_count < 0) {
        return PyErr_Format(PyExc_ValueError, "joint_count: %d; expected 0 or more", joint_count);
    }
    mesh_arrays m = {0};
    if (read_mesh(&m, points, normals, row_start, joints, weights) == 0) {
        capsule = make_skin(&m, joint_count, normalised, kernel);
    }
    release_array(m.points);
    release_array(m.normals);
    release_array(m.row_start);
    release_array(m.joints);
    release_array(m.weights);
    return capsule;
}

const char kernels_doc[] = "kernels()\n--\n\nThe names of the kernels that this machine can run, best first.";

PyObject *py_kernels(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    static char *names[] = {NULL};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, ":kernels", names)) {
        return NULL;
    }
    PyObject *list = PyList_New(0);
    for (int i = 0; list && tps_kernel_name(i); i++) {
        PyObject *name = PyUnicode_FromString(tps_kernel_name(i));
        if (!name || PyList_Append(list, name)) {
            Py_CLEAR(list);
        }
        Py_XDECREF(name);
    }
    return list;
}

const char skin_weighted_doc[] = "skin_weighted(skin)\n--\n\nbool (J,): does any vertex have weight on the joint?";

PyObject *py_skin_weighted(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    static char *names[] = {"skin", NULL};
    PyObject *capsule;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:skin_weighted", names, &capsule)) {
        return NULL;
    }
    const tps_skin *skin = skin_from(capsule);
    if (!skin) {
        return NULL;
    }
    npy_intp count = tps_skin_joint_count(skin);
    PyArrayObject *weighted = (PyArrayObject *)PyArray_SimpleNew(1, &count, NPY_BOOL);
    if (weighted) {
        tps_skin_weighted(skin, PyArray_DATA(weighted));
    }
    return (PyObject *)weighted;
}

static PyObject *copy_vectors(const tps_skin *skin, const float *values)
{
    npy_intp shape[] = {tps_skin_vertex_count(skin), 3};
    PyObject *array = values ? PyArray_SimpleNew(2, shape, NPY_FLOAT) : Py_NewRef(Py_None);
    if (array && values) {
        memcpy(PyArray_DATA((PyArrayObject *)array), values, (size_t)shape[0] * 3 * sizeof *values);
    }
    return array;
}

const char skin_arrays_doc[] =
    "skin_arrays(skin)\n--\n\n"
    "(points, normals or None, row_start, joints, weights): what skin() makes the same skin\n"
    "from, with normalised=True.";

PyObject *py_skin_arrays(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    static char *names[] = {"skin", NULL};
    PyObject *capsule;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:skin_arrays", names, &capsule)) {
        return NULL;
    }
    const tps_skin *skin = skin_from(capsule);
    if (!skin) {
        return NULL;
    }
    npy_intp starts = tps_skin_vertex_count(skin) + 1, entries = tps_skin_entry_count(skin);
    PyObject *points = copy_vectors(skin, tps_skin_points(skin)), *normals = copy_vectors(skin, tps_skin_normals(skin));
    PyObject *row_start = PyArray_SimpleNew(1, &starts, NPY_INT64), *joints = PyArray_SimpleNew(1, &entries, NPY_INT64);
    PyObject *weights = PyArray_SimpleNew(1, &entries, NPY_DOUBLE), *result = NULL;
    if (points && normals && row_start && joints && weights) {
        tps_skin_weights(skin, PyArray_DATA((PyArrayObject *)row_start), PyArray_DATA((PyArrayObject *)joints),
                         PyArray_DATA((PyArrayObject *)weights));
        result = PyTuple_Pack(5, points, normals, row_start, joints, weights);
    }
    Py_XDECREF(points);
    Py_XDECREF(normals);
    Py_XDECREF(row_start);
    Py_XDECREF(joints);
    Py_XDECREF(weights);
    return result;
}
