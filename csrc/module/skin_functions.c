/* Skins, held in capsules, and deformation. */
#include "capsules.h"
#include "functions.h"

#include <string.h>

static void release(PyObject *capsule)
{
    tps_skin_free(PyCapsule_GetPointer(capsule, SKIN_CAPSULE));
}

static const tps_skin *skin_from(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, SKIN_CAPSULE);
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

/* Everything that one call of deform holds. */
typedef struct call {
    const tps_skin *skin;
    const tps_skeleton *skeleton;
    int wanted, offsets;
    association association;
    PyArrayObject *world, *space, *points, *blend;
    tps_pose pose;
} call;

static void release_call(call *c)
{
    association_release(&c->association);
    release_array(c->world);
    release_array(c->space);
    release_array(c->points);
    release_array(c->blend);
}

static int is_stack(const call *c)
{
    return PyArray_NDIM(c->world) == 4;
}

/* (V, 3), or (F, V, 3) for a stack of frames. */
static int read_points(call *c, PyObject *value)
{
    if (value == Py_None) {
        return 0;
    }
    npy_intp vertex_count = tps_skin_vertex_count(c->skin), shape[] = {c->pose.frame_count, vertex_count, 3};
    int stacked = is_stack(c) && PyArray_Check(value) && PyArray_NDIM((PyArrayObject *)value) == 3;
    c->points = stacked ? array_argument(value, "points", REAL_32, 3, shape, "FV3")
                        : array_argument(value, "points", REAL_32, 2, shape + 1, "V3");
    if (!c->points || check_finite(c->points, "points")) {
        return -1;
    }
    c->pose.points = PyArray_DATA(c->points);
    c->pose.points_stride = stacked ? 3 * vertex_count : 0;
    return 0;
}

static int read_blend(call *c, PyObject *value)
{
    if (value == Py_None) {
        return 0;
    }
    npy_intp vertex_count = tps_skin_vertex_count(c->skin);
    int one = PyFloat_Check(value) || PyLong_Check(value) || PyArray_CheckScalar(value);
    c->blend = array_argument(value, "blend", REAL_32, one ? 0 : 1, &vertex_count, "V");
    if (!c->blend || check_finite(c->blend, "blend")) {
        return -1;
    }
    const float *blend = PyArray_DATA(c->blend);
    for (npy_intp i = 0; i < PyArray_SIZE(c->blend); i++) {
        if (blend[i] < 0 || blend[i] > 1) {
            PyObject *was = PyFloat_FromDouble(blend[i]);
            PyErr_Format(PyExc_ValueError, "blend: entry %zd is %R; expected 0..1", (Py_ssize_t)i, was);
            Py_XDECREF(was);
            return -1;
        }
    }
    if (c->pose.phase != 0) {
        PyErr_SetString(PyExc_ValueError, "blend: given together with phase; expected one of them");
        return -1;
    }
    c->pose.blend = blend;
    c->pose.blend_per_vertex = !one;
    return 0;
}

static int read_phase(call *c, PyObject *value)
{
    if (value == Py_None) {
        return 0;
    }
    if (!PyLong_Check(value) || PyBool_Check(value)) {
        PyErr_Format(PyExc_TypeError, "phase: %S; expected 1, 2 or None", (PyObject *)Py_TYPE(value));
        return -1;
    }
    int overflow;
    long phase = PyLong_AsLongAndOverflow(value, &overflow);
    if (overflow || (phase != 1 && phase != 2)) {
        PyErr_Format(PyExc_ValueError, "phase: %R; expected 1, 2 or None", value);
        return -1;
    }
    if (c->pose.method == TPS_LINEAR) {
        PyErr_Format(PyExc_ValueError, "phase: %ld with method \"linear\", which has no phases; expected None", phase);
        return -1;
    }
    c->pose.phase = (int)phase;
    return 0;
}

static int read_threads(call *c, PyObject *value)
{
    if (!PyLong_Check(value) || PyBool_Check(value)) {
        PyErr_Format(PyExc_TypeError, "threads: %S; expected an int", (PyObject *)Py_TYPE(value));
        return -1;
    }
    int overflow;
    long threads = PyLong_AsLongAndOverflow(value, &overflow);
    if (overflow || threads < 0) {
        PyErr_Format(PyExc_ValueError, "threads: %R; expected 0 (choose) or more", value);
        return -1;
    }
    c->pose.threads = threads < 1024 ? (int)threads : 1024; /* the core has a lower limit of its own */
    return 0;
}

/* What a call can be asked for; each bit is one output. */
enum { POINTS = 1, NORMALS = 2, MATRICES = 4, INVERSE_MATRICES = 8 };

static int read_wanted(call *c, PyObject *value)
{
    static const char *const words[] = {"points",   "normals",          "points_and_normals",
                                        "matrices", "inverse_matrices", NULL};
    static const int wanted[] = {POINTS, NORMALS, POINTS | NORMALS, MATRICES, INVERSE_MATRICES};
    int word = word_argument(value, "result", words);
    if (word < 0) {
        return -1;
    }
    c->wanted = wanted[word];
    if (c->wanted & NORMALS && !tps_skin_normals(c->skin)) {
        PyErr_SetString(PyExc_ValueError, "normals: None; expected (V, 3) normals when the Skin was made");
        return -1;
    }
    return 0;
}

/* The arguments of deform, in the order of its docstring. */
typedef struct deform_objects {
    PyObject *skin, *skeleton, *result, *world, *method, *inherited, *points, *blend, *phase, *nonrigid, *rigid, *space,
        *out, *normals_out, *threads, *offsets;
} deform_objects;

/* bool only: an array or a number here is a mistake. */
static int read_offsets(call *c, PyObject *value)
{
    if (!PyBool_Check(value)) {
        PyErr_Format(PyExc_TypeError, "offsets: %R; expected True or False", value);
        return -1;
    }
    c->offsets = value == Py_True;
    return 0;
}

static int read_call(call *c, const deform_objects *o)
{
    static const char *const methods[] = {"two_phase", "linear", "dual_quaternion", NULL};
    c->skin = skin_from(o->skin);
    c->skeleton = c->skin ? skeleton_from(o->skeleton) : NULL;
    if (!c->skeleton || read_wanted(c, o->result)) {
        return -1;
    }
    npy_intp count = tps_skeleton_joint_count(c->skeleton);
    if (count != tps_skin_joint_count(c->skin)) {
        PyErr_Format(PyExc_ValueError, "skeleton: %zd joints; expected %d", (Py_ssize_t)count,
                     (int)tps_skin_joint_count(c->skin));
        return -1;
    }
    if (!(c->world = matrices_argument(o->world, "world", count, 1))) {
        return -1;
    }
    c->pose.world = PyArray_DATA(c->world);
    c->pose.frame_count = is_stack(c) ? PyArray_DIM(c->world, 0) : 1;
    int method = word_argument(o->method, "method", methods);
    if (method < 0 || association_argument(&c->association, count, o->inherited, Py_None, o->nonrigid, o->rigid)) {
        return -1;
    }
    c->pose.method = (tps_method)method;
    c->pose.association = c->association.core;
    if (o->space != Py_None) {
        if (!(c->space = matrix_argument(o->space, "space"))) {
            return -1;
        }
        c->pose.space = PyArray_DATA(c->space);
    }
    return read_points(c, o->points) || read_phase(c, o->phase) || read_blend(c, o->blend) ||
                   read_threads(c, o->threads) || read_offsets(c, o->offsets)
               ? -1
               : 0;
}

static PyArrayObject *open_output(const call *c, PyObject *object, const char *name, int wide, PyArrayObject *other)
{
    npy_intp shape[] = {c->pose.frame_count, tps_skin_vertex_count(c->skin), 3, 4};
    int skip = is_stack(c) ? 0 : 1;
    PyArrayObject *const others[] = {c->world, c->space, c->points, c->blend, other};
    return output_argument(object, name, (wide ? 4 : 3) - skip, shape + skip, others, 5);
}

/* Both arrays are written; the second may be NULL. Returns 0, or -1 with an error. */
static int run_call(const call *c, PyArrayObject *out, PyArrayObject *normals_out)
{
    float *first = PyArray_DATA(out);
    tps_results results = {.points = c->wanted & POINTS ? first : NULL,
                           .offsets = c->offsets,
                           .normals = normals_out           ? PyArray_DATA(normals_out)
                                      : c->wanted & NORMALS ? first
                                                            : NULL,
                           .matrices = c->wanted & MATRICES ? first : NULL,
                           .inverse_matrices = c->wanted & INVERSE_MATRICES ? first : NULL};
    tps_status status;
    Py_BEGIN_ALLOW_THREADS status = tps_skin_deform(c->skin, c->skeleton, &c->pose, &results);
    Py_END_ALLOW_THREADS if (status != TPS_OK)
    {
        raise_status(status, "space", -1);
        return -1;
    }
    return 0;
}

static PyObject *run(const call *c, const deform_objects *o)
{
    PyArrayObject *out = open_output(c, o->out, "out", c->wanted & (MATRICES | INVERSE_MATRICES), NULL);
    PyArrayObject *normals_out = NULL;
    PyObject *result = NULL;
    if (!out) {
        return NULL;
    }
    if (c->wanted != (POINTS | NORMALS)) {
        result = run_call(c, out, NULL) == 0 ? Py_NewRef((PyObject *)out) : NULL;
    } else if ((normals_out = open_output(c, o->normals_out, "normals_out", 0, out)) &&
               run_call(c, out, normals_out) == 0) {
        result = PyTuple_Pack(2, (PyObject *)out, (PyObject *)normals_out);
    }
    release_array(out);
    release_array(normals_out);
    return result;
}

const char deform_doc[] =
    "deform(skin, skeleton, result, world, method, inherited, points, blend, phase, nonrigid, rigid, space, out, "
    "normals_out, threads, offsets)\n"
    "--\n\n"
    "What Skin's methods call; result: \"points\", \"normals\", \"points_and_normals\", \"matrices\" or\n"
    "\"inverse_matrices\".";

PyObject *py_deform(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    static char *names[] = {"skin",   "skeleton",    "result",  "world",    "method", "inherited",
                            "points", "blend",       "phase",   "nonrigid", "rigid",  "space",
                            "out",    "normals_out", "threads", "offsets",  NULL};
    deform_objects o;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOOOOOOOOOOOOOO:deform", names, &o.skin, &o.skeleton, &o.result,
                                     &o.world, &o.method, &o.inherited, &o.points, &o.blend, &o.phase, &o.nonrigid,
                                     &o.rigid, &o.space, &o.out, &o.normals_out, &o.threads, &o.offsets)) {
        return NULL;
    }
    call c = {0};
    PyObject *result = read_call(&c, &o) == 0 ? run(&c, &o) : NULL;
    release_call(&c);
    return result;
}
