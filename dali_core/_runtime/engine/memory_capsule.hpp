// Memory as a Python object, between modules that do not know each other's declarations.
#pragma once

#include <Python.h>

#include <memory>

namespace dali_core {

constexpr const char* kMemoryCapsule = "dali_core.memory";

// Null, with a Python error, if there is no room for it.
inline PyObject* capsule_of_memory(const std::shared_ptr<void>& memory) {
  auto* held = new std::shared_ptr<void>(memory);
  PyObject* capsule = PyCapsule_New(held, kMemoryCapsule, [](PyObject* object) {
    delete static_cast<std::shared_ptr<void>*>(PyCapsule_GetPointer(object, kMemoryCapsule));
  });
  if (capsule == nullptr) delete held;
  return capsule;
}

// Null, with a Python error, if the object is something else. By value: the capsule may be gone as
// soon as this returns.
inline std::shared_ptr<void> memory_of_capsule(PyObject* capsule) {
  void* held = PyCapsule_GetPointer(capsule, kMemoryCapsule);
  return held ? *static_cast<std::shared_ptr<void>*>(held) : nullptr;
}

}  // namespace dali_core
