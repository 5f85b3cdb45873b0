/* Deformation: options by name become a tps_deform_job, for one mesh or for many at once. */
#include "types.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* What a call can be asked for; each bit is one output. */
enum { POINTS = 1, NORMALS = 2, MATRICES = 4, INVERSE_MATRICES = 8, EVERY_RESULT = 15 };

enum { MOST_ARRAYS = 16, NAME_TEXT = 64 };

/* One call: the job, and the arrays that it reads and writes. */
typedef struct call {
    tps_deform_job job;
    int wanted;
    int stacked;      /* many frames? */
    Py_ssize_t entry; /* of many meshes, or -1: errors name it */
    int input_count;
    PyArrayObject *inputs[MOST_ARRAYS];
    PyArrayObject *out, *normals_out;
} call;

static void release_call(call *c)
{
    for (int i = 0; i < c->input_count; i++) {
        release_array(c->inputs[i]);
    }
    release_array(c->out);
    release_array(c->normals_out);
}

/* What errors call an argument of this call: "points", or "points: entry 3". */
static const char *name_of(const call *c, const char *name, char text[NAME_TEXT])
{
    if (c->entry < 0) {
        return name;
    }
    snprintf(text, NAME_TEXT, "%s: entry %lld", name, (long long)c->entry);
    return text;
}

/* Takes over the reference, NULL too; -1 for that. */
static int keep(call *c, PyArrayObject *array)
{
    if (!array) {
        return -1;
    }
    c->inputs[c->input_count++] = array;
    return 0;
}

/* ---- the options, each read from what is not None into the job's field of its name */

typedef struct option option;
typedef int (*reader)(call *c, const option *o, const char *name, PyObject *value);
struct option {
    const char *name;
    int results; /* those that it is an option of */
    reader read;
    size_t field; /* of the job, where one reader serves several options */
};

static int read_method(call *c, const option *o, const char *name, PyObject *value)
{
    (void)o;
    int method = word_argument(value, name, tps_method_name);
    c->job.method = (tps_method)(method < 0 ? 0 : method);
    return method < 0 ? -1 : 0;
}

static int read_inherited(call *c, const option *o, const char *name, PyObject *value)
{
    (void)o;
    int inherited = word_argument(value, name, tps_inherited_name);
    c->job.inherited = (tps_inherited)(inherited < 0 ? 0 : inherited);
    return inherited < 0 ? -1 : 0;
}

static int read_phase(call *c, const option *o, const char *name, PyObject *value)
{
    (void)o;
    int64_t phase;
    if (integer_argument(value, name, "1, 2 or None", &phase)) {
        return -1;
    }
    if (phase != TPS_PHASE_NONRIGID && phase != TPS_PHASE_RIGID) {
        PyErr_Format(PyExc_ValueError, "%s: %R; expected 1, 2 or None", name, value);
        return -1;
    }
    if (c->job.method == TPS_METHOD_LINEAR) {
        PyErr_Format(PyExc_ValueError, "%s: %R with method \"linear\", which has no phases; expected None", name,
                     value);
        return -1;
    }
    c->job.phase = (tps_phase)phase;
    return 0;
}

/* A stack, one for each frame? */
static int64_t stride_of(PyArrayObject *array, int ndim, int64_t elements)
{
    return PyArray_NDIM(array) > ndim ? elements : 0;
}

/* Association flags: (J,) or (F, J). */
static int read_flags(call *c, const option *o, const char *name, PyObject *value)
{
    npy_intp joints = tps_skin_joint_count(c->job.skin);
    const npy_intp shape[] = {c->job.frame_count, joints};
    PyArrayObject *flags = array_by_frame(value, name, TRUTH, 1, shape, "FJ", c->stacked);
    if (keep(c, flags)) {
        return -1;
    }
    const uint8_t **field = (const uint8_t **)(void *)((char *)&c->job + o->field);
    *field = PyArray_DATA(flags);
    int64_t stride = stride_of(flags, 1, joints);
    if (o->field == offsetof(tps_deform_job, nonrigid)) {
        c->job.nonrigid_stride = stride;
    } else {
        c->job.rigid_stride = stride;
    }
    return 0;
}

/* (4, 4) or (F, 4, 4) */
static int read_space(call *c, const option *o, const char *name, PyObject *value)
{
    (void)o;
    PyArrayObject *space = matrix_argument(value, name, c->stacked, c->job.frame_count);
    if (keep(c, space)) {
        return -1;
    }
    c->job.space = PyArray_DATA(space);
    c->job.space_stride = stride_of(space, 2, 16);
    return 0;
}

/* (V, 3) or (F, V, 3) */
static int read_points(call *c, const option *o, const char *name, PyObject *value)
{
    (void)o;
    npy_intp vertices = tps_skin_vertex_count(c->job.skin);
    const npy_intp shape[] = {c->job.frame_count, vertices, 3};
    PyArrayObject *points = array_by_frame(value, name, REAL_32, 2, shape, "FV3", c->stacked);
    if (keep(c, points) || check_finite(points, name)) {
        return -1;
    }
    c->job.points = PyArray_DATA(points);
    c->job.points_stride = stride_of(points, 2, 3 * vertices);
    return 0;
}

/* A number, (V,) or (F, V); 0..1. */
static int read_amount(call *c, const option *o, const char *name, PyObject *value)
{
    npy_intp vertices = tps_skin_vertex_count(c->job.skin);
    int one = PyFloat_Check(value) || PyLong_Check(value) || PyArray_CheckScalar(value);
    const npy_intp shape[] = {c->job.frame_count, vertices};
    PyArrayObject *amount = one ? array_argument(value, name, REAL_32, 0, NULL, "")
                                : array_by_frame(value, name, REAL_32, 1, shape, "FV", c->stacked);
    if (keep(c, amount) || check_finite(amount, name)) {
        return -1;
    }
    const float *values = PyArray_DATA(amount);
    for (npy_intp i = 0; i < PyArray_SIZE(amount); i++) {
        if (values[i] < 0 || values[i] > 1) {
            PyObject *was = PyFloat_FromDouble(values[i]);
            PyErr_Format(PyExc_ValueError, "%s: entry %zd is %R; expected 0..1", name, (Py_ssize_t)i, was);
            Py_XDECREF(was);
            return -1;
        }
    }
    tps_amount *field = (tps_amount *)(void *)((char *)&c->job + o->field);
    *field = (tps_amount){.values = values, .per_vertex = !one, .stride = stride_of(amount, 1, vertices)};
    return 0;
}

static int read_blend(call *c, const option *o, const char *name, PyObject *value)
{
    if (read_amount(c, o, name, value)) {
        return -1;
    }
    if (c->job.phase != TPS_PHASE_ALL) {
        PyErr_Format(PyExc_ValueError, "%s: given together with phase; expected one of them", name);
        return -1;
    }
    return 0;
}

static int read_threads(call *c, const option *o, const char *name, PyObject *value)
{
    (void)o;
    int64_t threads;
    if (integer_argument(value, name, "an int", &threads)) {
        return -1;
    }
    if (threads < 0) {
        PyErr_Format(PyExc_ValueError, "%s: %R; expected 0 (choose) or more", name, value);
        return -1;
    }
    c->job.threads = threads < 1024 ? (int)threads : 1024; /* the core has a lower limit of its own */
    return 0;
}

static int read_offsets(call *c, const option *o, const char *name, PyObject *value)
{
    (void)o;
    c->job.offsets = truth_argument(value, name);
    return c->job.offsets < 0 ? -1 : 0;
}

static PyArrayObject *open_output(const call *c, PyObject *object, const char *name, PyArrayObject *other)
{
    int columns = c->wanted & (MATRICES | INVERSE_MATRICES) ? 1 : 0, skip = c->stacked ? 0 : 1;
    npy_intp shape[] = {c->job.frame_count, tps_skin_vertex_count(c->job.skin), 3, 4};
    PyArrayObject *others[MOST_ARRAYS + 1];
    for (int i = 0; i < c->input_count; i++) {
        others[i] = c->inputs[i];
    }
    others[c->input_count] = other;
    return output_argument(object, name, 3 + columns - skip, shape + skip, others, c->input_count + (other != NULL));
}

static int read_out(call *c, const option *o, const char *name, PyObject *value)
{
    (void)o;
    return (c->out = open_output(c, value, name, NULL)) ? 0 : -1;
}

static int read_normals_out(call *c, const option *o, const char *name, PyObject *value)
{
    (void)o;
    return (c->normals_out = open_output(c, value, name, c->out)) ? 0 : -1;
}

/* They are read in this order: some look at those before them. A new one is a line here, a field of tps_deform_job and
 * a key of DeformOptions in _options.py. */
static const option options[] = {
    {"method", EVERY_RESULT, read_method, 0},
    {"inherited", EVERY_RESULT, read_inherited, 0},
    {"phase", EVERY_RESULT, read_phase, 0},
    {"blend", EVERY_RESULT, read_blend, offsetof(tps_deform_job, blend)},
    {"nonrigid", EVERY_RESULT, read_flags, offsetof(tps_deform_job, nonrigid)},
    {"rigid", EVERY_RESULT, read_flags, offsetof(tps_deform_job, rigid)},
    {"space", EVERY_RESULT, read_space, 0},
    {"points", POINTS, read_points, 0},
    {"offsets", POINTS, read_offsets, 0},
    {"threads", EVERY_RESULT, read_threads, 0},
    {"out", EVERY_RESULT, read_out, 0},
    {"normals_out", NORMALS, read_normals_out, 0},
};
enum { OPTIONS = sizeof options / sizeof *options };

static int is_option(const call *c, const option *o)
{
    int both = POINTS | NORMALS;
    return (o->read == read_normals_out ? c->wanted == both : (c->wanted & o->results) != 0);
}

/* Names the first key that is no option. */
static int refuse_unknown(const call *c, PyObject *given)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(given, &at, &key, &value)) {
        int known = 0;
        for (int i = 0; i < OPTIONS && !known; i++) {
            known = is_option(c, &options[i]) && PyUnicode_Check(key) &&
                    PyUnicode_CompareWithASCIIString(key, options[i].name) == 0;
        }
        if (!known) {
            PyErr_Format(PyExc_TypeError, "%S: no option of this function; expected those in its documentation", key);
            return -1;
        }
    }
    return 0;
}

/* A dict of options; what is None is as if not there. */
static int read_options(call *c, PyObject *given)
{
    char text[NAME_TEXT];
    Py_ssize_t known = 0;
    for (int i = 0; i < OPTIONS; i++) {
        const option *o = &options[i];
        PyObject *value = is_option(c, o) ? PyDict_GetItemString(given, o->name) : NULL;
        known += value != NULL;
        /* None is an absent array or choice; the others have no such value. */
        int needs_value =
            o->read == read_method || o->read == read_inherited || o->read == read_threads || o->read == read_offsets;
        if (value && (value != Py_None || needs_value) && o->read(c, o, name_of(c, o->name, text), value)) {
            return -1;
        }
    }
    return known == PyDict_Size(given) ? 0 : refuse_unknown(c, given);
}

static const char *result_name(int number)
{
    static const char *const names[] = {"points", "normals", "points_and_normals", "matrices", "inverse_matrices"};
    return number < (int)(sizeof names / sizeof *names) ? names[number] : NULL;
}

static int read_wanted(call *c, PyObject *result)
{
    static const int wanted[] = {POINTS, NORMALS, POINTS | NORMALS, MATRICES, INVERSE_MATRICES};
    int number = word_argument(result, "result", result_name);
    if (number < 0) {
        return -1;
    }
    c->wanted = wanted[number];
    if (c->wanted & NORMALS && !tps_skin_normals(c->job.skin)) {
        PyErr_SetString(PyExc_ValueError, "normals: None; expected (V, 3) normals when the Skin was made");
        return -1;
    }
    return 0;
}

static int read_world(call *c, PyObject *world)
{
    char text[NAME_TEXT];
    const char *name = c->entry < 0 ? "world" : name_of(c, "worlds", text);
    PyArrayObject *array = matrices_argument(world, name, tps_skin_joint_count(c->job.skin), 1);
    if (keep(c, array)) {
        return -1;
    }
    c->stacked = PyArray_NDIM(array) == 4;
    c->job.world = PyArray_DATA(array);
    c->job.frame_count = c->stacked ? PyArray_DIM(array, 0) : 1;
    return 0;
}

/* Makes the arrays that were not given, and lets the job write to all. */
static int open_results(call *c)
{
    if ((!c->out && !(c->out = open_output(c, NULL, "out", NULL))) ||
        (c->wanted == (POINTS | NORMALS) && !c->normals_out &&
         !(c->normals_out = open_output(c, NULL, "normals_out", c->out)))) {
        return -1;
    }
    float *first = PyArray_DATA(c->out);
    c->job.points_out = c->wanted & POINTS ? first : NULL;
    c->job.normals_out = c->normals_out ? PyArray_DATA(c->normals_out) : c->wanted & NORMALS ? first : NULL;
    c->job.matrices_out = c->wanted & MATRICES ? first : NULL;
    c->job.inverse_matrices_out = c->wanted & INVERSE_MATRICES ? first : NULL;
    return 0;
}

static int read_call(call *c, const skin_object *skin, PyObject *result, PyObject *world, PyObject *given)
{
    c->job.skin = skin->skin;
    c->job.skeleton = skin->skeleton->skeleton;
    return read_wanted(c, result) || read_world(c, world) || read_options(c, given) || open_results(c) ? -1 : 0;
}

/* What was given as `out`, or the array that was made; a new reference. */
static PyObject *returned(PyObject *given, const char *name, PyArrayObject *array)
{
    PyObject *out = PyDict_GetItemString(given, name);
    return Py_NewRef(out && out != Py_None ? out : (PyObject *)array);
}

const char skin_deform_doc[] =
    "deform(result, world, options)\n--\n\n"
    "What the methods of two_phase_skinning.Skin call. result: \"points\", \"normals\", \"points_and_normals\",\n"
    "\"matrices\" or \"inverse_matrices\". options: a dict.";

PyObject *skin_deform(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyObject *wanted, *world, *given, *result = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO!:deform", NAMES("result", "world", "options"), &wanted, &world,
                                     &PyDict_Type, &given)) {
        return NULL;
    }
    call c = {.entry = -1};
    if (read_call(&c, (skin_object *)self, wanted, world, given) == 0) {
        tps_status status;
        Py_BEGIN_ALLOW_THREADS
            status = tps_deform(&c.job);
        Py_END_ALLOW_THREADS
        if (status != TPS_OK) {
            raise_status(status, "space", -1);
        } else if (c.normals_out) {
            result =
                Py_BuildValue("(NN)", returned(given, "out", c.out), returned(given, "normals_out", c.normals_out));
        } else {
            result = returned(given, "out", c.out);
        }
    }
    release_call(&c);
    return result;
}

/* ---- many meshes */

/* A call for each mesh, and their jobs in a row. */
typedef struct many {
    Py_ssize_t count;
    call *calls;
    tps_deform_job *jobs;
} many;

static int allocate_many(many *m, Py_ssize_t count)
{
    *m = (many){count, PyMem_Calloc((size_t)count + 1, sizeof *m->calls),
                PyMem_Calloc((size_t)count + 1, sizeof *m->jobs)};
    if (!m->calls || !m->jobs) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

static void release_many(many *m)
{
    for (Py_ssize_t i = 0; i < m->count && m->calls; i++) {
        release_call(&m->calls[i]);
    }
    PyMem_Free(m->calls);
    PyMem_Free(m->jobs);
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
    span *spans = PyMem_Calloc((size_t)m->count * (MOST_ARRAYS + 1) + 1, sizeof *spans);
    const char *read = NULL, *written = NULL;
    size_t count = 0;
    if (!spans) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < m->count; i++) {
        for (int k = 0; k < m->calls[i].input_count; k++) {
            count = add_span(spans, count, m->calls[i].inputs[k], 0);
        }
        count = add_span(spans, count, m->calls[i].out, 1);
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

/* One mesh: a tuple (Skin, world, options). */
static int read_entry(many *m, Py_ssize_t i, PyObject *entry, PyTypeObject *skin_type, PyObject *points)
{
    PyObject *skin, *world, *given;
    call *c = &m->calls[i];
    c->entry = i;
    if (!PyArg_ParseTuple(entry, "O!OO!", skin_type, &skin, &world, &PyDict_Type, &given) ||
        read_call(c, (skin_object *)skin, points, world, given)) {
        return -1;
    }
    m->jobs[i] = c->job;
    return 0;
}

/* All are looked at before the first is written. */
static int check_jobs(const many *m)
{
    for (Py_ssize_t i = 0; i < m->count; i++) {
        tps_status status = tps_deform_check(&m->jobs[i]);
        if (status != TPS_OK) {
            char text[NAME_TEXT];
            raise_status(status, name_of(&m->calls[i], "space", text), -1);
            return -1;
        }
    }
    return 0;
}

static PyObject *run_many(const many *m, PyObject *entries)
{
    int threads = m->count > 0 ? m->jobs[0].threads : 0;
    Py_BEGIN_ALLOW_THREADS
        tps_deform_many(m->jobs, m->count, threads);
    Py_END_ALLOW_THREADS
    for (Py_ssize_t i = 0; i < m->count; i++) {
        if (m->jobs[i].status != TPS_OK) {
            return raise_status(m->jobs[i].status, "deform_many", -1);
        }
    }
    PyObject *list = PyList_New(m->count);
    for (Py_ssize_t i = 0; list && i < m->count; i++) {
        PyObject *given = PyTuple_GetItem(PyTuple_GetItem(entries, i), 2);
        PyList_SetItem(list, i, returned(given, "out", m->calls[i].out));
    }
    return list;
}

const char deform_many_doc[] =
    "deform_many(entries)\n--\n\n"
    "What the package's deform_many calls, with a tuple of (Skin, world, options); the number\n"
    "of threads is that of the first.";

PyObject *deform_many(PyObject *module, PyObject *args, PyObject *kwargs)
{
    PyObject *entries, *points, *result = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!:deform_many", NAMES("entries"), &PyTuple_Type, &entries) ||
        !(points = PyUnicode_FromString("points"))) {
        return NULL;
    }
    const module_state *state = PyModule_GetState(module);
    many m;
    if (allocate_many(&m, PyTuple_Size(entries)) == 0) {
        int good = 1;
        for (Py_ssize_t i = 0; i < m.count && good; i++) {
            good = read_entry(&m, i, PyTuple_GetItem(entries, i), state->skin_type, points) == 0;
        }
        if (good && check_apart(&m) == 0 && check_jobs(&m) == 0) {
            result = run_many(&m, entries);
        }
    }
    release_many(&m);
    Py_DECREF(points);
    return result;
}
