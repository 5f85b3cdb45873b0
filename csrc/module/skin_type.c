/* The type Skin: a mesh and its weights, bound to a skeleton. */
#include "types.h"

#include <string.h>

static const tps_skin *skin_of(PyObject *self)
{
    return ((skin_object *)self)->skin;
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
    char range[RANGE_TEXT];
    switch (status) {
    case TPS_WEIGHT_JOINT_RANGE:
        return PyErr_Format(PyExc_ValueError, "weights: vertex %lld has joint %lld; expected %s",
                            vertex_of(mesh, where), (long long)mesh->joints[where],
                            joint_range(range, mesh->joint_count));
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

/* 0, or -1 with an error. */
static int create(skin_object *self, const mesh_arrays *m, int row_sum, int kernel)
{
    tps_mesh mesh = {.vertex_count = PyArray_DIM(m->points, 0),
                     .joint_count = tps_skeleton_joint_count(self->skeleton->skeleton),
                     .points = PyArray_DATA(m->points),
                     .normals = m->normals ? PyArray_DATA(m->normals) : NULL,
                     .row_start = PyArray_DATA(m->row_start),
                     .entry_count = PyArray_DIM(m->joints, 0),
                     .joints = PyArray_DATA(m->joints),
                     .weights = PyArray_DATA(m->weights),
                     .row_sum = (tps_row_sum)row_sum,
                     .kernel = kernel};
    int64_t where = -1;
    tps_status status;
    Py_BEGIN_ALLOW_THREADS
        status = tps_skin_create(&mesh, &self->skin, &where);
    Py_END_ALLOW_THREADS
    if (status != TPS_OK) {
        raise_weights(status, &mesh, where);
        return -1;
    }
    return 0;
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *skeleton, *points, *normals, *row_start, *joints, *weights, *sum_name, *self = NULL;
    int row_sum, kernel = 0;
    const module_state *state = PyType_GetModuleState(type);
    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, "O!OOOOOO|i:Skin",
            NAMES("skeleton", "points", "normals", "row_start", "joints", "weights", "row_sum", "kernel"),
            state->skeleton_type, &skeleton, &points, &normals, &row_start, &joints, &weights, &sum_name, &kernel)) {
        return NULL;
    }
    if ((row_sum = word_argument(sum_name, "row_sum", tps_row_sum_name)) < 0) {
        return NULL;
    }
    mesh_arrays m = {0};
    if (read_mesh(&m, points, normals, row_start, joints, weights) == 0 && (self = new_object(type))) {
        ((skin_object *)self)->skeleton = (skeleton_object *)Py_NewRef(skeleton);
        if (create((skin_object *)self, &m, row_sum, kernel)) {
            Py_CLEAR(self);
        }
    }
    release_array(m.points);
    release_array(m.normals);
    release_array(m.row_start);
    release_array(m.joints);
    release_array(m.weights);
    return self;
}

static void deallocate(PyObject *self)
{
    tps_skin_free(((skin_object *)self)->skin);
    Py_XDECREF((PyObject *)((skin_object *)self)->skeleton);
    free_object(self);
}

static const char weighted_doc[] = "weighted()\n--\n\nbool (J,): does any vertex have weight on the joint?";

static PyObject *weighted(PyObject *self, PyObject *args)
{
    (void)args;
    npy_intp count = tps_skin_joint_count(skin_of(self));
    PyArrayObject *flags = (PyArrayObject *)PyArray_SimpleNew(1, &count, NPY_BOOL);
    if (flags) {
        tps_skin_weighted(skin_of(self), PyArray_DATA(flags));
    }
    return (PyObject *)flags;
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

static const char points_doc[] = "points()\n--\n\n(V, 3) float32, a copy.";

static PyObject *points(PyObject *self, PyObject *args)
{
    (void)args;
    return copy_vectors(skin_of(self), tps_skin_points(skin_of(self)));
}

static const char normals_doc[] = "normals()\n--\n\n(V, 3) float32 of unit length, a copy, or None.";

static PyObject *normals(PyObject *self, PyObject *args)
{
    (void)args;
    return copy_vectors(skin_of(self), tps_skin_normals(skin_of(self)));
}

static const char weights_doc[] =
    "weights()\n--\n\n(row_start, joints, weights), as Skin() takes with row_sum=\"kept\".";

static PyObject *weights(PyObject *self, PyObject *args)
{
    (void)args;
    const tps_skin *skin = skin_of(self);
    npy_intp starts = tps_skin_vertex_count(skin) + 1, entries = tps_skin_entry_count(skin);
    PyObject *row_start = PyArray_SimpleNew(1, &starts, NPY_INT64), *joints = PyArray_SimpleNew(1, &entries, NPY_INT64);
    PyObject *values = PyArray_SimpleNew(1, &entries, NPY_DOUBLE), *result = NULL;
    if (row_start && joints && values) {
        tps_skin_weights(skin, PyArray_DATA((PyArrayObject *)row_start), PyArray_DATA((PyArrayObject *)joints),
                         PyArray_DATA((PyArrayObject *)values));
        result = PyTuple_Pack(3, row_start, joints, values);
    }
    Py_XDECREF(row_start);
    Py_XDECREF(joints);
    Py_XDECREF(values);
    return result;
}

static PyMethodDef methods[] = {
    {"weighted", weighted, METH_NOARGS, weighted_doc}, {"points", points, METH_NOARGS, points_doc},
    {"normals", normals, METH_NOARGS, normals_doc},    {"weights", weights, METH_NOARGS, weights_doc},
    METHOD("deform", skin_deform, skin_deform_doc),    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, __extension__(void *) make},
    {Py_tp_dealloc, __extension__(void *) deallocate},
    {Py_tp_methods, methods},
    {Py_tp_doc, "Skin(skeleton, points, normals, row_start, joints, weights, row_sum, kernel=0)\n--\n\n"
                "The core's skin, from weights in compressed rows."},
    {0, NULL},
};

PyType_Spec skin_spec = {
    .name = "two_phase_skinning._core.Skin",
    .basicsize = sizeof(skin_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
