// Memory that belongs to a Python object, as storage of a tensor.
#pragma once

#include <Python.h>

#include <memory>

namespace dali_core {

// Holds a reference; its release takes the GIL, in the thread of the last owner.
inline std::shared_ptr<void> hold_python_object(PyObject* object) {
  Py_INCREF(object);
  return std::shared_ptr<void>(object, [](void* p) {
    if (!Py_IsInitialized()) return;  // the interpreter has gone, and the object with it
    const PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF(static_cast<PyObject*>(p));
    PyGILState_Release(state);
  });
}

}  // namespace dali_core
