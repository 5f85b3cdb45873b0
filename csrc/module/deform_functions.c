/* Deformation: of one mesh, and of many at once. */
#include "capsules.h"
#include "functions.h"

#include <stdio.h>
#include <stdlib.h>

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

/* `world_name` is what errors call the posed matrices. */
static int read_call(call *c, const deform_objects *o, const char *world_name)
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
    if (!(c->world = matrices_argument(o->world, world_name, count, 1))) {
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
    PyObject *result = read_call(&c, &o, "world") == 0 ? run(&c, &o) : NULL;
    release_call(&c);
    return result;
}

/* What many meshes hold: a call, an output and a task for each. */
typedef struct many {
    Py_ssize_t count;
    call *calls;
    PyArrayObject **outs;
    tps_task *tasks;
} many;

static int allocate_many(many *m, Py_ssize_t count)
{
    *m = (many){count, PyMem_Calloc((size_t)count + 1, sizeof *m->calls),
                PyMem_Calloc((size_t)count + 1, sizeof(PyArrayObject *)),
                PyMem_Calloc((size_t)count + 1, sizeof *m->tasks)};
    if (!m->calls || !m->outs || !m->tasks) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

static void release_many(many *m)
{
    for (Py_ssize_t i = 0; i < m->count && m->calls && m->outs; i++) {
        release_call(&m->calls[i]);
        release_array(m->outs[i]);
    }
    PyMem_Free(m->calls);
    PyMem_Free(m->outs);
    PyMem_Free(m->tasks);
}

/* One mesh's arguments; those that are the same for all stand in `o`. */
static int read_one(many *m, Py_ssize_t i, const deform_objects *o, PyObject *out)
{
    call *c = &m->calls[i];
    char world_name[64], out_name[64];
    snprintf(world_name, sizeof world_name, "worlds: entry %lld", (long long)i);
    snprintf(out_name, sizeof out_name, "out: entry %lld", (long long)i);
    if (read_call(c, o, world_name) || !(m->outs[i] = open_output(c, out, out_name, 0, NULL))) {
        return -1;
    }
    m->tasks[i] = (tps_task){
        .skin = c->skin, .skeleton = c->skeleton, .pose = c->pose, .results = {.points = PyArray_DATA(m->outs[i])}};
    return 0;
}

/* Memory of one mesh's call. */
typedef struct span {
    const char *begin, *end;
    int written;
} span;

static int by_begin(const void *a, const void *b)
{
    const span *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static size_t add_span(span *spans, size_t count, PyArrayObject *array, int written)
{
    if (!array || PyArray_NBYTES(array) == 0) {
        return count;
    }
    const char *begin = PyArray_DATA(array);
    spans[count] = (span){begin, begin + PyArray_NBYTES(array), written};
    return count + 1;
}

/* Each mesh's own arrays were compared when it was read; here they meet the others'. */
static int check_apart(const many *m)
{
    span *spans = PyMem_Calloc((size_t)m->count * 2 + 1, sizeof *spans);
    const char *read = NULL, *written = NULL;
    size_t count = 0;
    if (!spans) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < m->count; i++) {
        count = add_span(spans, count, m->calls[i].world, 0);
        count = add_span(spans, count, m->outs[i], 1);
    }
    qsort(spans, count, sizeof *spans, by_begin);
    int apart = 1;
    for (size_t i = 0; i < count && apart; i++) {
        const span *s = &spans[i];
        apart = !(written && s->begin < written) && !(s->written && read && s->begin < read);
        const char **end = s->written ? &written : &read;
        *end = *end && *end > s->end ? *end : s->end;
    }
    PyMem_Free(spans);
    if (!apart) {
        PyErr_SetString(PyExc_ValueError,
                        "out: an entry shares memory with another mesh's array; expected memory of its own");
    }
    return apart ? 0 : -1;
}

static PyObject *run_many(const many *m, int threads)
{
    Py_BEGIN_ALLOW_THREADS tps_deform_many(m->tasks, m->count, threads);
    Py_END_ALLOW_THREADS for (Py_ssize_t i = 0; i < m->count; i++)
    {
        if (m->tasks[i].status != TPS_OK) {
            return raise_status(m->tasks[i].status, "space", -1);
        }
    }
    PyObject *list = PyList_New(m->count);
    for (Py_ssize_t i = 0; list && i < m->count; i++) {
        PyList_SetItem(list, i, Py_NewRef((PyObject *)m->outs[i]));
    }
    return list;
}

/* o->skin, skeleton, world and out are tuples of the same length. */
static PyObject *read_and_run_many(const deform_objects *all)
{
    many m;
    PyObject *result = NULL;
    deform_objects o = *all;
    if (allocate_many(&m, PyTuple_Size(all->skin)) == 0) {
        int good = 1;
        for (Py_ssize_t i = 0; i < m.count && good; i++) {
            o.skin = PyTuple_GetItem(all->skin, i);
            o.skeleton = PyTuple_GetItem(all->skeleton, i);
            o.world = PyTuple_GetItem(all->world, i);
            good = read_one(&m, i, &o, PyTuple_GetItem(all->out, i)) == 0;
        }
        if (good && check_apart(&m) == 0) {
            result = run_many(&m, m.count > 0 ? m.calls[0].pose.threads : 0);
        }
    }
    release_many(&m);
    return result;
}

const char deform_many_doc[] = "deform_many(skins, skeletons, worlds, method, inherited, outs, threads)\n--\n\n"
                               "What the package's deform_many calls, with tuples of one length.";

PyObject *py_deform_many(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    static char *names[] = {"skins", "skeletons", "worlds", "method", "inherited", "outs", "threads", NULL};
    deform_objects o = {.points = Py_None,
                        .blend = Py_None,
                        .phase = Py_None,
                        .nonrigid = Py_None,
                        .rigid = Py_None,
                        .space = Py_None,
                        .offsets = Py_False};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O!O!OOO!O:deform_many", names, &PyTuple_Type, &o.skin,
                                     &PyTuple_Type, &o.skeleton, &PyTuple_Type, &o.world, &o.method, &o.inherited,
                                     &PyTuple_Type, &o.out, &o.threads)) {
        return NULL;
    }
    Py_ssize_t count = PyTuple_Size(o.skin);
    if (PyTuple_Size(o.skeleton) != count || PyTuple_Size(o.world) != count || PyTuple_Size(o.out) != count) {
        PyErr_SetString(PyExc_ValueError, "deform_many: tuples of different lengths; expected one entry for each mesh");
        return NULL;
    }
    PyObject *result = NULL;
    if ((o.result = PyUnicode_FromString("points"))) {
        result = read_and_run_many(&o);
        Py_DECREF(o.result);
    }
    return result;
}
