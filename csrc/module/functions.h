/* The functions of the module, with their docstrings. */
#ifndef TPS_FUNCTIONS_H
#define TPS_FUNCTIONS_H

#include "arguments.h"

#define TPS_FUNCTION(name)                                                                                             \
    PyObject *py_##name(PyObject *module, PyObject *args, PyObject *kwargs);                                           \
    extern const char name##_doc[];

TPS_FUNCTION(bind_local)
TPS_FUNCTION(bind_world)
TPS_FUNCTION(pose_world)
TPS_FUNCTION(user_local)
TPS_FUNCTION(skinning_matrices)
TPS_FUNCTION(world_from_skinning)
TPS_FUNCTION(increment_local)
TPS_FUNCTION(increment_world)
TPS_FUNCTION(skeleton)
TPS_FUNCTION(pose)
TPS_FUNCTION(support_joints)
TPS_FUNCTION(separate)
TPS_FUNCTION(skin)
TPS_FUNCTION(kernels)
TPS_FUNCTION(skin_weighted)
TPS_FUNCTION(skin_arrays)
TPS_FUNCTION(deform)
TPS_FUNCTION(deform_many)

#undef TPS_FUNCTION
#endif
