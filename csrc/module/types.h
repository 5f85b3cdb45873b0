/* The module's types, which own what the core made, and its functions. */
#ifndef TPS_TYPES_H
#define TPS_TYPES_H

#include "arguments.h"

/* Of one module object; there is no other state. */
typedef struct module_state {
    PyTypeObject *skeleton_type, *skin_type;
} module_state;

/* two_phase_skinning._core.Skeleton */
typedef struct skeleton_object {
    PyObject_HEAD tps_skeleton *skeleton;
} skeleton_object;

/* two_phase_skinning._core.Skin; keeps the skeleton that it is bound to. */
typedef struct skin_object {
    PyObject_HEAD tps_skin *skin;
    skeleton_object *skeleton;
} skin_object;

extern PyType_Spec skeleton_spec, skin_spec;

/* An instance of a type that has nothing in it yet; NULL with an error. */
PyObject *new_object(PyTypeObject *type);

/* The end of an instance, after what it owned was freed. */
void free_object(PyObject *self);

/* The names that arguments are parsed by, as Python 3.11 to 3.13 want them. */
#define NAMES(...) ((char *[]){__VA_ARGS__, NULL})

#define METHOD(name, function, doc) {name, (PyCFunction)(void (*)(void))function, METH_VARARGS | METH_KEYWORDS, doc}

/* The functions on joint matrices, with their docstrings (joint_functions.c); the table ends with a NULL name. */
extern PyMethodDef joint_functions[];

/* Skin.deform and the module's deform_many (deform_call.c). */
PyObject *skin_deform(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *deform_many(PyObject *module, PyObject *args, PyObject *kwargs);
extern const char skin_deform_doc[], deform_many_doc[];

#endif
