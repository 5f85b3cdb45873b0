/* The extension module two_phase_skinning._core: the only door between Python and the core. */
#define TPS_IMPORTS_NUMPY
#include "functions.h"

#define METHOD(name) {#name, (PyCFunction)(void (*)(void))py_##name, METH_VARARGS | METH_KEYWORDS, name##_doc}

static PyMethodDef methods[] = {
    METHOD(bind_local),
    METHOD(bind_world),
    METHOD(pose_world),
    METHOD(user_local),
    METHOD(skinning_matrices),
    METHOD(world_from_skinning),
    METHOD(increment_local),
    METHOD(increment_world),
    METHOD(skeleton),
    METHOD(pose),
    METHOD(support_joints),
    METHOD(separate),
    METHOD(skin),
    METHOD(kernels),
    METHOD(skin_weighted),
    METHOD(skin_arrays),
    METHOD(deform),
    METHOD(deform_many),
    {NULL, NULL, 0, NULL},
};

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "GCC " __VERSION__
#endif

static int execute(PyObject *module)
{
    import_array1(-1);
    if (PyModule_AddStringConstant(module, "compiler", COMPILER) < 0) {
        return -1;
    }
    return PyModule_AddStringConstant(module, "version", TPS_VERSION);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, __extension__(void *) execute},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "two_phase_skinning._core",
    .m_doc = "The native part of two_phase_skinning.",
    .m_methods = methods,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}
