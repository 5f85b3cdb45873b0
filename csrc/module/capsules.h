/* The core's objects as Python holds them. */
#ifndef TPS_CAPSULES_H
#define TPS_CAPSULES_H

#include "arguments.h"

#define SKELETON_CAPSULE "two_phase_skinning.skeleton"
#define SKIN_CAPSULE "two_phase_skinning.skin"

/* The skeleton in a capsule, or NULL with an error set. */
const tps_skeleton *skeleton_from(PyObject *capsule);

/* The skin in a capsule, or NULL with an error set. */
static inline const tps_skin *skin_from(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, SKIN_CAPSULE);
}

/* An association whose arrays Python owns. Zero it first, and release it whatever the result. */
typedef struct association {
    PyArrayObject *weighted, *nonrigid, *rigid;
    tps_association core;
} association;

int association_argument(association *a, npy_intp count, PyObject *inherited, PyObject *weighted, PyObject *nonrigid,
                         PyObject *rigid);
void association_release(association *a);

#endif
