/* Skeletons, held in capsules, and the separation of poses. */
#include "capsules.h"
#include "functions.h"

static void release(PyObject *capsule)
{
    tps_skeleton_free(PyCapsule_GetPointer(capsule, SKELETON_CAPSULE));
}

const tps_skeleton *skeleton_from(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, SKELETON_CAPSULE);
}

const char skeleton_doc[] = "skeleton(parents, bind, inherits)\n--\n\nMakes the core's skeleton, in a capsule.";

PyObject *py_skeleton(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    static char *names[] = {"parents", "bind", "inherits", NULL};
    PyObject *parents_object, *bind_object, *inherits_object, *capsule = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO:skeleton", names, &parents_object, &bind_object,
                                     &inherits_object)) {
        return NULL;
    }
    npy_intp count;
    int32_t *parents = parents_argument(parents_object, ANY, &count, NULL);
    if (!parents) {
        return NULL;
    }
    PyArrayObject *bind = matrices_argument(bind_object, "bind", count, 0);
    PyArrayObject *inherits = bind ? array_argument(inherits_object, "inherits", TRUTH, 1, &count, "J") : NULL;
    if (inherits) {
        tps_skeleton *skeleton = NULL;
        int64_t where = -1;
        tps_status status =
            tps_skeleton_create((int32_t)count, parents, PyArray_DATA(bind), PyArray_DATA(inherits), &skeleton, &where);
        if (status != TPS_OK) {
            raise_status(status, "bind", where);
        } else if (!(capsule = PyCapsule_New(skeleton, SKELETON_CAPSULE, release))) {
            tps_skeleton_free(skeleton);
        }
    }
    PyMem_Free(parents);
    release_array(bind);
    release_array(inherits);
    return capsule;
}

const char support_joints_doc[] = "support_joints(skeleton, weighted)\n--\n\nbool (J,) -> bool (J,).";

PyObject *py_support_joints(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    static char *names[] = {"skeleton", "weighted", NULL};
    PyObject *capsule, *weighted_object;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:support_joints", names, &capsule, &weighted_object)) {
        return NULL;
    }
    const tps_skeleton *skeleton = skeleton_from(capsule);
    if (!skeleton) {
        return NULL;
    }
    npy_intp count = tps_skeleton_joint_count(skeleton);
    PyArrayObject *weighted = array_argument(weighted_object, "weighted", TRUTH, 1, &count, "J"), *support = NULL;
    if (weighted && (support = (PyArrayObject *)PyArray_SimpleNew(1, &count, NPY_BOOL))) {
        tps_support_joints(skeleton, PyArray_DATA(weighted), PyArray_DATA(support));
    }
    release_array(weighted);
    return (PyObject *)support;
}

const char pose_doc[] = "pose(skeleton, user)\n--\n\n(J, 4, 4) or (F, J, 4, 4) user transforms -> posed matrices.";

PyObject *py_pose(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    static char *names[] = {"skeleton", "user", NULL};
    PyObject *capsule, *user_object;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:pose", names, &capsule, &user_object)) {
        return NULL;
    }
    const tps_skeleton *skeleton = skeleton_from(capsule);
    npy_intp count = skeleton ? tps_skeleton_joint_count(skeleton) : 0;
    PyArrayObject *user = skeleton ? matrices_argument(user_object, "user", count, 1) : NULL, *world = NULL;
    if (user) {
        world = (PyArrayObject *)PyArray_SimpleNew(PyArray_NDIM(user), PyArray_DIMS(user), NPY_DOUBLE);
    }
    npy_intp frames = world && PyArray_NDIM(user) == 4 ? PyArray_DIM(user, 0) : 1;
    for (npy_intp f = 0; world && f < frames; f++) {
        tps_status status = tps_skeleton_pose(skeleton, (double *)PyArray_DATA(user) + 16 * count * f,
                                              (double *)PyArray_DATA(world) + 16 * count * f);
        if (status != TPS_OK) {
            raise_status(status, "user", -1);
            Py_CLEAR(world);
        }
    }
    release_array(user);
    return (PyObject *)world;
}

static const uint8_t *bytes_or_null(PyArrayObject *array)
{
    return array ? PyArray_DATA(array) : NULL;
}

int association_argument(association *a, npy_intp count, PyObject *inherited, PyObject *weighted, PyObject *nonrigid,
                         PyObject *rigid)
{
    static const char *const words[] = {"after", "before", NULL};
    int word = word_argument(inherited, "inherited", words);
    if (word < 0 || optional_array(weighted, "weighted", TRUTH, 1, &count, "J", &a->weighted) ||
        optional_array(nonrigid, "nonrigid", TRUTH, 1, &count, "J", &a->nonrigid) ||
        optional_array(rigid, "rigid", TRUTH, 1, &count, "J", &a->rigid)) {
        return -1;
    }
    a->core = (tps_association){word == 0 ? TPS_AFTER : TPS_BEFORE, bytes_or_null(a->weighted),
                                bytes_or_null(a->nonrigid), bytes_or_null(a->rigid)};
    return 0;
}

void association_release(association *a)
{
    Py_CLEAR(a->weighted);
    Py_CLEAR(a->nonrigid);
    Py_CLEAR(a->rigid);
}

enum { FIELDS = 7 };

static tps_status separate_frames(const tps_skeleton *skeleton, const double *world, npy_intp frames,
                                  const tps_association *association, PyArrayObject *const *fields)
{
    tps_status status = TPS_OK;
    npy_intp stride = 16 * (npy_intp)tps_skeleton_joint_count(skeleton);
    for (npy_intp f = 0; f < frames && status == TPS_OK; f++) {
        double *to[FIELDS];
        for (int i = 0; i < FIELDS; i++) {
            to[i] = (double *)PyArray_DATA(fields[i]) + f * stride;
        }
        tps_separation separation = {to[0], to[1], to[2], to[3], to[4], to[5], to[6]};
        status = tps_separate(skeleton, world + f * stride, association, &separation);
    }
    return status;
}

/* A tuple of the seven fields, each shaped like `world`. */
static PyObject *separate(const tps_skeleton *skeleton, PyArrayObject *world, const tps_association *association)
{
    PyArrayObject *fields[FIELDS] = {NULL};
    PyObject *result = PyTuple_New(FIELDS);
    for (Py_ssize_t i = 0; result && i < FIELDS; i++) {
        PyObject *field = PyArray_SimpleNew(PyArray_NDIM(world), PyArray_DIMS(world), NPY_DOUBLE);
        if (!field) {
            Py_DECREF(result);
            return NULL;
        }
        fields[i] = (PyArrayObject *)field;
        PyTuple_SetItem(result, i, field);
    }
    if (!result) {
        return NULL;
    }
    npy_intp frames = PyArray_NDIM(world) == 4 ? PyArray_DIM(world, 0) : 1;
    tps_status status;
    Py_BEGIN_ALLOW_THREADS status = separate_frames(skeleton, PyArray_DATA(world), frames, association, fields);
    Py_END_ALLOW_THREADS if (status != TPS_OK)
    {
        Py_DECREF(result);
        return raise_status(status, "world", -1);
    }
    return result;
}

const char separate_doc[] = "separate(skeleton, world, inherited, weighted, nonrigid, rigid)\n--\n\n"
                            "The seven fields of a Separation, in its order.";

PyObject *py_separate(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    static char *names[] = {"skeleton", "world", "inherited", "weighted", "nonrigid", "rigid", NULL};
    PyObject *capsule, *world_object, *inherited, *weighted, *nonrigid, *rigid, *result = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOOOO:separate", names, &capsule, &world_object, &inherited,
                                     &weighted, &nonrigid, &rigid)) {
        return NULL;
    }
    const tps_skeleton *skeleton = skeleton_from(capsule);
    if (!skeleton) {
        return NULL;
    }
    npy_intp count = tps_skeleton_joint_count(skeleton);
    association a = {0};
    PyArrayObject *world = matrices_argument(world_object, "world", count, 1);
    if (world && association_argument(&a, count, inherited, weighted, nonrigid, rigid) == 0) {
        result = separate(skeleton, world, &a.core);
    }
    association_release(&a);
    release_array(world);
    return result;
}
