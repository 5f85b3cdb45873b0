/* The extension module two_phase_skinning._core: the only door between Python and the core. */
#define TPS_IMPORTS_NUMPY
#include "types.h"

PyObject *new_object(PyTypeObject *type)
{
    return PyType_GenericAlloc(type, 0);
}

void free_object(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_Free(self);
    Py_DECREF(type);
}

static const char kernels_doc[] = "kernels()\n--\n\nThe names of the kernels that this machine can run, best first.";

static PyObject *kernels(PyObject *module, PyObject *args)
{
    (void)module, (void)args;
    PyObject *list = PyList_New(0);
    for (int i = 0; list && tps_kernel_name(i); i++) {
        PyObject *name = PyUnicode_FromString(tps_kernel_name(i));
        if (!name || PyList_Append(list, name)) {
            Py_CLEAR(list);
        }
        Py_XDECREF(name);
    }
    return list;
}

static PyMethodDef methods[] = {
    METHOD("deform_many", deform_many, deform_many_doc),
    {"kernels", kernels, METH_NOARGS, kernels_doc},
    {NULL, NULL, 0, NULL},
};

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "GCC " __VERSION__
#endif

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec, const char *name)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    if (type && PyModule_AddObjectRef(module, name, type) < 0) {
        Py_CLEAR(type);
    }
    return (PyTypeObject *)type;
}

static int execute(PyObject *module)
{
    import_array1(-1);
    module_state *state = PyModule_GetState(module);
    if (PyModule_AddFunctions(module, joint_functions) < 0 ||
        !(state->skeleton_type = add_type(module, &skeleton_spec, "Skeleton")) ||
        !(state->skin_type = add_type(module, &skin_spec, "Skin")) ||
        PyModule_AddStringConstant(module, "compiler", COMPILER) < 0) {
        return -1;
    }
    return PyModule_AddStringConstant(module, "version", tps_version());
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    const module_state *state = PyModule_GetState(module);
    Py_VISIT(state->skeleton_type);
    Py_VISIT(state->skin_type);
    return 0;
}

static int clear(PyObject *module)
{
    module_state *state = PyModule_GetState(module);
    Py_CLEAR(state->skeleton_type);
    Py_CLEAR(state->skin_type);
    return 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, __extension__(void *) execute},
#if !defined(Py_LIMITED_API) && defined(Py_mod_gil)
    {Py_mod_gil, Py_MOD_GIL_NOT_USED}, /* skeletons and skins do not change once made */
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "two_phase_skinning._core",
    .m_doc = "The native part of two_phase_skinning.",
    .m_size = sizeof(module_state),
    .m_methods = methods,
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
};

PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&definition);
}
