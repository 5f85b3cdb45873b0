/* Functions on joint matrices: bind, local, user, world and skinning matrices; many frames at once. */
#include "types.h"

static PyArrayObject *like(PyArrayObject *array)
{
    return (PyArrayObject *)PyArray_SimpleNew(PyArray_NDIM(array), PyArray_DIMS(array), NPY_DOUBLE);
}

/* What a function works on: one or two stacks of matrices, of which each may be for one frame or for many, and the
 * parents. Zero it first, and release it whatever the result. */
typedef struct operands {
    PyArrayObject *matrices[2];
    npy_intp joint_count, frame_count; /* 1 frame where none is a stack */
    int32_t *parents, *order;
} operands;

static void release_operands(operands *o)
{
    release_array(o->matrices[0]);
    release_array(o->matrices[1]);
    PyMem_Free(o->parents);
}

static int is_stack(PyArrayObject *array)
{
    return array && PyArray_NDIM(array) == 4;
}

/* The first operand says how many joints there are, the first stack how many frames. */
static int read_matrices(operands *o, int place, PyObject *value, const char *name)
{
    PyArrayObject *array = matrices_argument(value, name, place == 0 ? ANY : o->joint_count, 1);
    if (!array) {
        return -1;
    }
    o->matrices[place] = array;
    o->joint_count = PyArray_DIM(array, PyArray_NDIM(array) - 3);
    if (place == 1 && is_stack(array) && is_stack(o->matrices[0]) && PyArray_DIM(array, 0) != o->frame_count) {
        PyErr_Format(PyExc_ValueError, "%s: shape with %zd frames; expected %zd, as the other argument has", name,
                     (Py_ssize_t)PyArray_DIM(array, 0), (Py_ssize_t)o->frame_count);
        return -1;
    }
    if (is_stack(array)) {
        o->frame_count = PyArray_DIM(array, 0);
    } else if (place == 0) {
        o->frame_count = 1;
    }
    return 0;
}

static int read_parents(operands *o, PyObject *value)
{
    npy_intp count;
    o->parents = parents_argument(value, o->joint_count, &count, &o->order);
    return o->parents ? 0 : -1;
}

/* One frame. */
typedef tps_status (*frame_function)(const operands *o, const double *first, const double *second, double *result,
                                     int64_t *where);

static const double *frame_of(PyArrayObject *array, npy_intp frame, npy_intp matrices)
{
    return array ? (const double *)PyArray_DATA(array) + (is_stack(array) ? 16 * matrices * frame : 0) : NULL;
}

/* All frames; `name` is the argument that a failure is about. */
static PyObject *each_frame(const operands *o, frame_function run, const char *name)
{
    PyArrayObject *result = like(o->matrices[is_stack(o->matrices[1])]);
    if (!result) {
        return NULL;
    }
    int64_t where = -1;
    tps_status status = TPS_OK;
    Py_BEGIN_ALLOW_THREADS
        for (npy_intp f = 0; f < o->frame_count && status == TPS_OK; f++) {
            status = run(o, frame_of(o->matrices[0], f, o->joint_count), frame_of(o->matrices[1], f, o->joint_count),
                         (double *)PyArray_DATA(result) + 16 * o->joint_count * f, &where);
        }
    Py_END_ALLOW_THREADS
    if (status != TPS_OK) {
        Py_DECREF(result);
        return raise_status(status, name, where);
    }
    return (PyObject *)result;
}

#define FRAMES "Each of them may be (F, J, 4, 4) too, for many frames at once; then the result is.\n"

static const char bind_local_doc[] =
    "bind_local(bind, parents)\n--\n\n"
    "Bind matrices relative to the parent: L_j = B_p^-1 B_j; a root's is B_j.\n\n"
    "bind: (J, 4, 4) world bind matrices, invertible; (F, J, 4, 4) for several. parents: (J,) int, -1 at roots, in "
    "any\n"
    "order. Returns the shape of bind, float64. Raises ValueError or TypeError naming the argument.";

static tps_status run_bind_local(const operands *o, const double *bind, const double *none, double *local,
                                 int64_t *where)
{
    (void)none;
    return tps_bind_local((int32_t)o->joint_count, o->parents, bind, local, where);
}

static PyObject *bind_local(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    PyObject *bind, *parents, *result = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:bind_local", NAMES("bind", "parents"), &bind, &parents)) {
        return NULL;
    }
    operands o = {0};
    if (read_matrices(&o, 0, bind, "bind") == 0 && read_parents(&o, parents) == 0) {
        result = each_frame(&o, run_bind_local, "bind");
    }
    release_operands(&o);
    return result;
}

static const char bind_world_doc[] =
    "bind_world(local, parents)\n--\n\n"
    "World bind matrices from local ones: B_j = B_p L_j; a root's is L_j. The inverse of bind_local.\n\n"
    "local: (J, 4, 4); (F, J, 4, 4) for several. parents: (J,) int, -1 at roots, in any order.\n"
    "Returns the shape of local, float64. Raises ValueError or TypeError naming the argument.";

static tps_status run_bind_world(const operands *o, const double *local, const double *none, double *bind,
                                 int64_t *where)
{
    (void)none, (void)where;
    tps_bind_world((int32_t)o->joint_count, o->parents, o->order, local, bind);
    return TPS_OK;
}

static PyObject *bind_world(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    PyObject *local, *parents, *result = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:bind_world", NAMES("local", "parents"), &local, &parents)) {
        return NULL;
    }
    operands o = {0};
    if (read_matrices(&o, 0, local, "local") == 0 && read_parents(&o, parents) == 0) {
        result = each_frame(&o, run_bind_world, "local");
    }
    release_operands(&o);
    return result;
}

static const char pose_world_doc[] =
    "pose_world(local, user, parents)\n--\n\n"
    "Posed world matrices: W_j = W_p L_j U_j; a root's is L_j U_j.\n\n"
    "local: (J, 4, 4) local bind matrices. user: (J, 4, 4) the user's local transforms.\n" FRAMES
    "parents: (J,) int, -1 at roots, in any order.\n"
    "Returns float64. Raises ValueError or TypeError naming the argument.";

static tps_status run_pose_world(const operands *o, const double *local, const double *user, double *world,
                                 int64_t *where)
{
    (void)where;
    tps_pose_world((int32_t)o->joint_count, o->parents, o->order, local, user, world);
    return TPS_OK;
}

static PyObject *pose_world(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    PyObject *local, *user, *parents, *result = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO:pose_world", NAMES("local", "user", "parents"), &local, &user,
                                     &parents)) {
        return NULL;
    }
    operands o = {0};
    if (read_matrices(&o, 0, local, "local") == 0 && read_matrices(&o, 1, user, "user") == 0 &&
        read_parents(&o, parents) == 0) {
        result = each_frame(&o, run_pose_world, "user");
    }
    release_operands(&o);
    return result;
}

static const char user_local_doc[] =
    "user_local(world, local, parents)\n--\n\n"
    "The user's local transforms behind a pose: U_j = (W_p L_j)^-1 W_j; a root's is L_j^-1 W_j. The inverse of\n"
    "pose_world. Where W_p L_j is singular, by its pseudo-inverse.\n\n"
    "world: (J, 4, 4) posed matrices. local: (J, 4, 4) local bind matrices.\n" FRAMES
    "parents: (J,) int, -1 at roots. Returns float64. Raises ValueError or TypeError naming the argument.";

static tps_status run_user_local(const operands *o, const double *world, const double *local, double *user,
                                 int64_t *where)
{
    (void)where;
    tps_user_local((int32_t)o->joint_count, o->parents, world, local, user);
    return TPS_OK;
}

static PyObject *user_local(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    PyObject *world, *local, *parents, *result = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO:user_local", NAMES("world", "local", "parents"), &world, &local,
                                     &parents)) {
        return NULL;
    }
    operands o = {0};
    if (read_matrices(&o, 0, world, "world") == 0 && read_matrices(&o, 1, local, "local") == 0 &&
        read_parents(&o, parents) == 0) {
        result = each_frame(&o, run_user_local, "world");
    }
    release_operands(&o);
    return result;
}

static const char skinning_matrices_doc[] =
    "skinning_matrices(world, bind)\n--\n\n"
    "Skinning matrices, from the rest pose to the posed one: T_j = W_j B_j^-1.\n\n"
    "world: (J, 4, 4) posed matrices. bind: (J, 4, 4) bind matrices, invertible.\n" FRAMES
    "Returns float64. Raises ValueError or TypeError naming the argument.";

static tps_status run_skinning_matrices(const operands *o, const double *world, const double *bind, double *matrices,
                                        int64_t *where)
{
    return tps_skinning_matrices((int32_t)o->joint_count, world, bind, matrices, where);
}

static PyObject *skinning_matrices(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    PyObject *world, *bind, *result = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:skinning_matrices", NAMES("world", "bind"), &world, &bind)) {
        return NULL;
    }
    operands o = {0};
    if (read_matrices(&o, 0, world, "world") == 0 && read_matrices(&o, 1, bind, "bind") == 0) {
        result = each_frame(&o, run_skinning_matrices, "bind");
    }
    release_operands(&o);
    return result;
}

static const char world_from_skinning_doc[] =
    "world_from_skinning(matrices, bind)\n--\n\n"
    "Posed matrices from skinning matrices: W_j = T_j B_j. The inverse of skinning_matrices.\n\n"
    "matrices: (J, 4, 4). bind: (J, 4, 4).\n" FRAMES
    "Returns float64. Raises ValueError or TypeError naming the argument.";

static tps_status run_world_from_skinning(const operands *o, const double *matrices, const double *bind, double *world,
                                          int64_t *where)
{
    (void)where;
    tps_world_from_skinning((int32_t)o->joint_count, matrices, bind, world);
    return TPS_OK;
}

static PyObject *world_from_skinning(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    PyObject *matrices, *bind, *result = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:world_from_skinning", NAMES("matrices", "bind"), &matrices,
                                     &bind)) {
        return NULL;
    }
    operands o = {0};
    if (read_matrices(&o, 0, matrices, "matrices") == 0 && read_matrices(&o, 1, bind, "bind") == 0) {
        result = each_frame(&o, run_world_from_skinning, "bind");
    }
    release_operands(&o);
    return result;
}

static const char increment_local_doc[] =
    "increment_local(user, joint, increment)\n--\n\n"
    "Applies an increment to one joint, in the frame that it has without its own transform, W_p L_j:\n"
    "U'_j = increment U_j.\n\n"
    "user: (J, 4, 4) the user's local transforms. joint: 0..J-1. increment: (4, 4).\n"
    "Returns the new user transforms, (J, 4, 4) float64. Raises ValueError or TypeError naming the argument.";

/* 1, or 0 with an error. */
static int joint_argument(PyObject *value, npy_intp count, int64_t *joint)
{
    char range[RANGE_TEXT];
    if (integer_argument(value, "joint", "an int", joint)) {
        return 0;
    }
    if (*joint < 0 || *joint >= count) {
        PyErr_Format(PyExc_ValueError, "joint: %R; expected %s", value, joint_range(range, count));
        return 0;
    }
    return 1;
}

static PyObject *increment_local(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    PyObject *user_object, *joint_object, *increment_object;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO:increment_local", NAMES("user", "joint", "increment"),
                                     &user_object, &joint_object, &increment_object)) {
        return NULL;
    }
    int64_t joint;
    PyArrayObject *user = matrices_argument(user_object, "user", ANY, 0), *increment = NULL, *changed = NULL;
    if (user && joint_argument(joint_object, PyArray_DIM(user, 0), &joint) &&
        (increment = matrix_argument(increment_object, "increment", 0, ANY))) {
        changed = (PyArrayObject *)PyArray_NewCopy(user, NPY_CORDER);
    }
    if (changed) { /* a product of two matrices is what W = T B is */
        tps_world_from_skinning(1, PyArray_DATA(increment), (double *)PyArray_DATA(user) + 16 * joint,
                                (double *)PyArray_DATA(changed) + 16 * joint);
    }
    release_array(user);
    release_array(increment);
    return (PyObject *)changed;
}

static const char increment_world_doc[] =
    "increment_world(user, joint, increment, local, parents)\n--\n\n"
    "Applies an increment to one joint in world space, W'_j = increment W_j: U'_j = (W_p L_j)^-1 increment W_j.\n\n"
    "user: (J, 4, 4) the user's local transforms. joint: 0..J-1. increment: (4, 4).\n"
    "local: (J, 4, 4) local bind matrices. parents: (J,) int, -1 at roots. Descendants follow the joint.\n"
    "Returns the new user transforms, (J, 4, 4) float64. Raises ValueError or TypeError naming the argument.";

/* The user transforms with one joint changed, from arguments that were checked. */
static PyArrayObject *increment_in_world(PyArrayObject *user, int64_t joint, PyArrayObject *increment,
                                         PyArrayObject *local, const int32_t *parents, const int32_t *order)
{
    PyArrayObject *changed = (PyArrayObject *)PyArray_NewCopy(user, NPY_CORDER), *world = like(user);
    if (changed && world) {
        tps_pose_world((int32_t)PyArray_DIM(user, 0), parents, order, PyArray_DATA(local), PyArray_DATA(user),
                       PyArray_DATA(world));
        tps_increment_world((int32_t)joint, parents, PyArray_DATA(local), PyArray_DATA(world), PyArray_DATA(increment),
                            (double *)PyArray_DATA(changed) + 16 * joint);
    } else {
        Py_CLEAR(changed);
    }
    release_array(world);
    return changed;
}

static PyObject *increment_world(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    PyObject *user_object, *joint_object, *increment_object, *local_object, *parents_object;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOOO:increment_world",
                                     NAMES("user", "joint", "increment", "local", "parents"), &user_object,
                                     &joint_object, &increment_object, &local_object, &parents_object)) {
        return NULL;
    }
    int64_t joint;
    npy_intp count;
    int32_t *order, *parents = NULL;
    PyArrayObject *user = matrices_argument(user_object, "user", ANY, 0), *increment = NULL, *local = NULL;
    PyArrayObject *changed = NULL;
    if (user && joint_argument(joint_object, PyArray_DIM(user, 0), &joint) &&
        (increment = matrix_argument(increment_object, "increment", 0, ANY)) &&
        (local = matrices_argument(local_object, "local", PyArray_DIM(user, 0), 0)) &&
        (parents = parents_argument(parents_object, PyArray_DIM(user, 0), &count, &order))) {
        changed = increment_in_world(user, joint, increment, local, parents, order);
    }
    PyMem_Free(parents);
    release_array(user);
    release_array(increment);
    release_array(local);
    return (PyObject *)changed;
}

PyMethodDef joint_functions[] = {
    METHOD("bind_local", bind_local, bind_local_doc),
    METHOD("bind_world", bind_world, bind_world_doc),
    METHOD("pose_world", pose_world, pose_world_doc),
    METHOD("user_local", user_local, user_local_doc),
    METHOD("skinning_matrices", skinning_matrices, skinning_matrices_doc),
    METHOD("world_from_skinning", world_from_skinning, world_from_skinning_doc),
    METHOD("increment_local", increment_local, increment_local_doc),
    METHOD("increment_world", increment_world, increment_world_doc),
    {NULL, NULL, 0, NULL},
};
