/* The type Skeleton: poses, and their separation. */
#include "types.h"

static const tps_skeleton *skeleton_of(PyObject *self)
{
    return ((skeleton_object *)self)->skeleton;
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *parents_object, *bind_object, *inherits_object, *self = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO:Skeleton", NAMES("parents", "bind", "inherits"),
                                     &parents_object, &bind_object, &inherits_object)) {
        return NULL;
    }
    npy_intp count;
    int32_t *parents = parents_argument(parents_object, ANY, &count, NULL);
    if (!parents) {
        return NULL;
    }
    PyArrayObject *bind = matrices_argument(bind_object, "bind", count, 0);
    PyArrayObject *inherits = bind ? array_argument(inherits_object, "inherits", TRUTH, 1, &count, "J") : NULL;
    if (inherits && (self = new_object(type))) {
        tps_skeleton **to = &((skeleton_object *)self)->skeleton;
        int64_t where = -1;
        tps_status status =
            tps_skeleton_create((int32_t)count, parents, PyArray_DATA(bind), PyArray_DATA(inherits), to, &where);
        if (status != TPS_OK) {
            raise_status(status, "bind", where);
            Py_CLEAR(self);
        }
    }
    PyMem_Free(parents);
    release_array(bind);
    release_array(inherits);
    return self;
}

static void deallocate(PyObject *self)
{
    tps_skeleton_free(((skeleton_object *)self)->skeleton);
    free_object(self);
}

static const char support_joints_doc[] = "support_joints(weighted)\n--\n\nbool (J,) -> bool (J,).";

static PyObject *support_joints(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyObject *weighted_object;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:support_joints", NAMES("weighted"), &weighted_object)) {
        return NULL;
    }
    npy_intp count = tps_skeleton_joint_count(skeleton_of(self));
    PyArrayObject *weighted = array_argument(weighted_object, "weighted", TRUTH, 1, &count, "J"), *support = NULL;
    if (weighted && (support = (PyArrayObject *)PyArray_SimpleNew(1, &count, NPY_BOOL))) {
        tps_support_joints(skeleton_of(self), PyArray_DATA(weighted), PyArray_DATA(support));
    }
    release_array(weighted);
    return (PyObject *)support;
}

static const char pose_doc[] = "pose(user)\n--\n\n(J, 4, 4) or (F, J, 4, 4) user transforms -> posed matrices.";

static tps_status pose_frames(const tps_skeleton *skeleton, const double *user, npy_intp frames, double *world)
{
    tps_status status = TPS_OK;
    npy_intp stride = 16 * (npy_intp)tps_skeleton_joint_count(skeleton);
    for (npy_intp f = 0; f < frames && status == TPS_OK; f++) {
        status = tps_skeleton_pose(skeleton, user + f * stride, world + f * stride);
    }
    return status;
}

static PyObject *pose(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyObject *user_object;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:pose", NAMES("user"), &user_object)) {
        return NULL;
    }
    npy_intp count = tps_skeleton_joint_count(skeleton_of(self));
    PyArrayObject *user = matrices_argument(user_object, "user", count, 1), *world = NULL;
    if (user && (world = (PyArrayObject *)PyArray_SimpleNew(PyArray_NDIM(user), PyArray_DIMS(user), NPY_DOUBLE))) {
        npy_intp frames = PyArray_NDIM(user) == 4 ? PyArray_DIM(user, 0) : 1;
        tps_status status;
        Py_BEGIN_ALLOW_THREADS
            status = pose_frames(skeleton_of(self), PyArray_DATA(user), frames, PyArray_DATA(world));
        Py_END_ALLOW_THREADS
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
static PyObject *separated(const tps_skeleton *skeleton, PyArrayObject *world, const tps_association *association)
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
    Py_BEGIN_ALLOW_THREADS
        status = separate_frames(skeleton, PyArray_DATA(world), frames, association, fields);
    Py_END_ALLOW_THREADS
    if (status != TPS_OK) {
        Py_DECREF(result);
        return raise_status(status, "world", -1);
    }
    return result;
}

static const char separate_doc[] = "separate(world, inherited, weighted, nonrigid, rigid)\n--\n\n"
                                   "The seven fields of a Separation, in its order.";

static PyObject *separate(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyObject *world_object, *inherited_object, *weighted_object, *nonrigid_object, *rigid_object, *result = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOOO:separate",
                                     NAMES("world", "inherited", "weighted", "nonrigid", "rigid"), &world_object,
                                     &inherited_object, &weighted_object, &nonrigid_object, &rigid_object)) {
        return NULL;
    }
    const tps_skeleton *skeleton = skeleton_of(self);
    npy_intp count = tps_skeleton_joint_count(skeleton);
    PyArrayObject *weighted = NULL, *nonrigid = NULL, *rigid = NULL;
    PyArrayObject *world = matrices_argument(world_object, "world", count, 1);
    int inherited = world ? word_argument(inherited_object, "inherited", tps_inherited_name) : -1;
    if (inherited >= 0 && optional_array(weighted_object, "weighted", TRUTH, 1, &count, "J", &weighted) == 0 &&
        optional_array(nonrigid_object, "nonrigid", TRUTH, 1, &count, "J", &nonrigid) == 0 &&
        optional_array(rigid_object, "rigid", TRUTH, 1, &count, "J", &rigid) == 0) {
        const tps_association association = {(tps_inherited)inherited, bytes_or_null(weighted), bytes_or_null(nonrigid),
                                             bytes_or_null(rigid)};
        result = separated(skeleton, world, &association);
    }
    release_array(world);
    release_array(weighted);
    release_array(nonrigid);
    release_array(rigid);
    return result;
}

static PyMethodDef methods[] = {
    METHOD("support_joints", support_joints, support_joints_doc),
    METHOD("pose", pose, pose_doc),
    METHOD("separate", separate, separate_doc),
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, __extension__(void *) make},
    {Py_tp_dealloc, __extension__(void *) deallocate},
    {Py_tp_methods, methods},
    {Py_tp_doc, "Skeleton(parents, bind, inherits)\n--\n\nThe core's skeleton."},
    {0, NULL},
};

PyType_Spec skeleton_spec = {
    .name = "two_phase_skinning._core.Skeleton",
    .basicsize = sizeof(skeleton_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
