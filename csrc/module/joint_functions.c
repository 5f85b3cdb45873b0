/* Functions on joint matrices: bind, local, user, world and skinning matrices. */
#include "functions.h"

static PyArrayObject *like(PyArrayObject *array)
{
    return (PyArrayObject *)PyArray_SimpleNew(PyArray_NDIM(array), PyArray_DIMS(array), NPY_DOUBLE);
}

const char bind_local_doc[] =
    "bind_local(bind, parents)\n--\n\n"
    "Bind matrices relative to the parent: L_j = B_p^-1 B_j; a root's is B_j.\n\n"
    "bind: (J, 4, 4) world bind matrices, invertible. parents: (J,) int, -1 at roots, in any order.\n"
    "Returns (J, 4, 4) float64. Raises ValueError or TypeError naming the argument.\n"
    "Source: skinning matrices as in the linear blend skinning literature; docs/method.md, section 1.";

PyObject *py_bind_local(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    static char *names[] = {"bind", "parents", NULL};
    PyObject *bind_object, *parents_object;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:bind_local", names, &bind_object, &parents_object)) {
        return NULL;
    }
    npy_intp count;
    PyArrayObject *bind = matrices_argument(bind_object, "bind", ANY, 0), *local = NULL;
    int32_t *parents = bind ? parents_argument(parents_object, PyArray_DIM(bind, 0), &count, NULL) : NULL;
    if (parents && (local = like(bind))) {
        int64_t where = -1;
        tps_status status = tps_bind_local((int32_t)count, parents, PyArray_DATA(bind), PyArray_DATA(local), &where);
        if (status != TPS_OK) {
            raise_status(status, "bind", where);
            Py_CLEAR(local);
        }
    }
    PyMem_Free(parents);
    release_array(bind);
    return (PyObject *)local;
}

const char bind_world_doc[] = "bind_world(local, parents)\n--\n\n"
                              "World bind matrices from local ones: B_j = B_p L_j; a root's is L_j.\n\n"
                              "local: (J, 4, 4). parents: (J,) int, -1 at roots, in any order.\n"
                              "Returns (J, 4, 4) float64. Raises ValueError or TypeError naming the argument.\n"
                              "The inverse of bind_local.";

PyObject *py_bind_world(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    static char *names[] = {"local", "parents", NULL};
    PyObject *local_object, *parents_object;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:bind_world", names, &local_object, &parents_object)) {
        return NULL;
    }
    npy_intp count;
    int32_t *order;
    PyArrayObject *local = matrices_argument(local_object, "local", ANY, 0), *bind = NULL;
    int32_t *parents = local ? parents_argument(parents_object, PyArray_DIM(local, 0), &count, &order) : NULL;
    if (parents && (bind = like(local))) {
        tps_bind_world((int32_t)count, parents, order, PyArray_DATA(local), PyArray_DATA(bind));
    }
    PyMem_Free(parents);
    release_array(local);
    return (PyObject *)bind;
}

const char pose_world_doc[] = "pose_world(local, user, parents)\n--\n\n"
                              "Posed world matrices: W_j = W_p L_j U_j; a root's is L_j U_j.\n\n"
                              "local: (J, 4, 4) local bind matrices. user: (J, 4, 4) the user's local transforms.\n"
                              "parents: (J,) int, -1 at roots, in any order.\n"
                              "Returns (J, 4, 4) float64. Raises ValueError or TypeError naming the argument.";

PyObject *py_pose_world(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    static char *names[] = {"local", "user", "parents", NULL};
    PyObject *local_object, *user_object, *parents_object;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO:pose_world", names, &local_object, &user_object,
                                     &parents_object)) {
        return NULL;
    }
    npy_intp count;
    int32_t *order, *parents = NULL;
    PyArrayObject *local = matrices_argument(local_object, "local", ANY, 0), *user = NULL, *world = NULL;
    if (local && (user = matrices_argument(user_object, "user", PyArray_DIM(local, 0), 0))) {
        parents = parents_argument(parents_object, PyArray_DIM(local, 0), &count, &order);
    }
    if (parents && (world = like(local))) {
        tps_pose_world((int32_t)count, parents, order, PyArray_DATA(local), PyArray_DATA(user), PyArray_DATA(world));
    }
    PyMem_Free(parents);
    release_array(local);
    release_array(user);
    return (PyObject *)world;
}

const char user_local_doc[] =
    "user_local(world, local, parents)\n--\n\n"
    "The user's local transforms behind a pose: U_j = (W_p L_j)^-1 W_j; a root's is L_j^-1 W_j.\n\n"
    "world: (J, 4, 4) posed matrices. local: (J, 4, 4) local bind matrices. parents: (J,) int, -1 at roots.\n"
    "Returns (J, 4, 4) float64. Where W_p L_j is singular, by its pseudo-inverse.\n"
    "Raises ValueError or TypeError naming the argument. The inverse of pose_world.";

PyObject *py_user_local(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    static char *names[] = {"world", "local", "parents", NULL};
    PyObject *world_object, *local_object, *parents_object;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO:user_local", names, &world_object, &local_object,
                                     &parents_object)) {
        return NULL;
    }
    npy_intp count;
    int32_t *parents = NULL;
    PyArrayObject *world = matrices_argument(world_object, "world", ANY, 0), *local = NULL, *user = NULL;
    if (world && (local = matrices_argument(local_object, "local", PyArray_DIM(world, 0), 0))) {
        parents = parents_argument(parents_object, PyArray_DIM(world, 0), &count, NULL);
    }
    if (parents && (user = like(world))) {
        tps_user_local((int32_t)count, parents, PyArray_DATA(world), PyArray_DATA(local), PyArray_DATA(user));
    }
    PyMem_Free(parents);
    release_array(world);
    release_array(local);
    return (PyObject *)user;
}

const char skinning_matrices_doc[] = "skinning_matrices(world, bind)\n--\n\n"
                                     "Skinning matrices, from the rest pose to the posed one: T_j = W_j B_j^-1.\n\n"
                                     "world: (J, 4, 4) posed matrices. bind: (J, 4, 4) bind matrices, invertible.\n"
                                     "Returns (J, 4, 4) float64. Raises ValueError or TypeError naming the argument.";

PyObject *py_skinning_matrices(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    static char *names[] = {"world", "bind", NULL};
    PyObject *world_object, *bind_object;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:skinning_matrices", names, &world_object, &bind_object)) {
        return NULL;
    }
    PyArrayObject *world = matrices_argument(world_object, "world", ANY, 0), *matrices = NULL;
    PyArrayObject *bind = world ? matrices_argument(bind_object, "bind", PyArray_DIM(world, 0), 0) : NULL;
    if (bind && (matrices = like(world))) {
        int64_t where = -1;
        tps_status status = tps_skinning_matrices((int32_t)PyArray_DIM(world, 0), PyArray_DATA(world),
                                                  PyArray_DATA(bind), PyArray_DATA(matrices), &where);
        if (status != TPS_OK) {
            raise_status(status, "bind", where);
            Py_CLEAR(matrices);
        }
    }
    release_array(world);
    release_array(bind);
    return (PyObject *)matrices;
}

const char world_from_skinning_doc[] =
    "world_from_skinning(matrices, bind)\n--\n\n"
    "Posed matrices from skinning matrices: W_j = T_j B_j.\n\n"
    "matrices: (J, 4, 4). bind: (J, 4, 4).\n"
    "Returns (J, 4, 4) float64. Raises ValueError or TypeError naming the argument.\n"
    "The inverse of skinning_matrices.";

PyObject *py_world_from_skinning(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    static char *names[] = {"matrices", "bind", NULL};
    PyObject *matrices_object, *bind_object;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO:world_from_skinning", names, &matrices_object, &bind_object)) {
        return NULL;
    }
    PyArrayObject *matrices = matrices_argument(matrices_object, "matrices", ANY, 0), *world = NULL;
    PyArrayObject *bind = matrices ? matrices_argument(bind_object, "bind", PyArray_DIM(matrices, 0), 0) : NULL;
    if (bind && (world = like(matrices))) {
        tps_world_from_skinning((int32_t)PyArray_DIM(matrices, 0), PyArray_DATA(matrices), PyArray_DATA(bind),
                                PyArray_DATA(world));
    }
    release_array(matrices);
    release_array(bind);
    return (PyObject *)world;
}

const char increment_local_doc[] =
    "increment_local(user, joint, increment)\n--\n\n"
    "Applies an increment to one joint, in the frame that it has without its own transform, W_p L_j:\n"
    "U'_j = increment U_j.\n\n"
    "user: (J, 4, 4) the user's local transforms. joint: 0..J-1. increment: (4, 4).\n"
    "Returns the new user transforms, (J, 4, 4) float64. Raises ValueError or TypeError naming the argument.";

static int check_joint(Py_ssize_t joint, npy_intp count)
{
    if (joint >= 0 && joint < count) {
        return 1;
    }
    PyErr_Format(PyExc_ValueError, "joint: %zd; expected 0..%zd", joint, (Py_ssize_t)count - 1);
    return 0;
}

/* An int, or what has __index__; bool is not one of a skeleton's joints. */
static int joint_argument(PyObject *value, npy_intp count, Py_ssize_t *joint)
{
    if (PyBool_Check(value) || !PyIndex_Check(value)) {
        PyErr_Format(PyExc_TypeError, "joint: %S; expected an int", (PyObject *)Py_TYPE(value));
        return 0;
    }
    *joint = PyNumber_AsSsize_t(value, NULL); /* clips, and so is out of range */
    return check_joint(*joint, count);
}

PyObject *py_increment_local(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    static char *names[] = {"user", "joint", "increment", NULL};
    PyObject *user_object, *joint_object, *increment_object;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO:increment_local", names, &user_object, &joint_object,
                                     &increment_object)) {
        return NULL;
    }
    Py_ssize_t joint;
    PyArrayObject *user = matrices_argument(user_object, "user", ANY, 0), *increment = NULL, *changed = NULL;
    if (user && joint_argument(joint_object, PyArray_DIM(user, 0), &joint) &&
        (increment = matrix_argument(increment_object, "increment"))) {
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

const char increment_world_doc[] =
    "increment_world(user, joint, increment, local, parents)\n--\n\n"
    "Applies an increment to one joint in world space, W'_j = increment W_j: U'_j = (W_p L_j)^-1 increment W_j.\n\n"
    "user: (J, 4, 4) the user's local transforms. joint: 0..J-1. increment: (4, 4).\n"
    "local: (J, 4, 4) local bind matrices. parents: (J,) int, -1 at roots. Descendants follow the joint.\n"
    "Returns the new user transforms, (J, 4, 4) float64. Raises ValueError or TypeError naming the argument.";

/* The user transforms with one joint changed, from arguments that were checked. */
static PyArrayObject *increment_in_world(PyArrayObject *user, Py_ssize_t joint, PyArrayObject *increment,
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

PyObject *py_increment_world(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    static char *names[] = {"user", "joint", "increment", "local", "parents", NULL};
    PyObject *user_object, *joint_object, *increment_object, *local_object, *parents_object;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOOO:increment_world", names, &user_object, &joint_object,
                                     &increment_object, &local_object, &parents_object)) {
        return NULL;
    }
    Py_ssize_t joint;
    npy_intp count;
    int32_t *order, *parents = NULL;
    PyArrayObject *user = matrices_argument(user_object, "user", ANY, 0), *increment = NULL, *local = NULL;
    PyArrayObject *changed = NULL;
    if (user && joint_argument(joint_object, PyArray_DIM(user, 0), &joint) &&
        (increment = matrix_argument(increment_object, "increment")) &&
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
