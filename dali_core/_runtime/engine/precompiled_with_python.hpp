// Precompiled header: the headers that modules made by Cython begin with. No source depends on it
// for names. The macros that Cython defines before Python's header come first.

#define PY_SSIZE_T_CLEAN

#include <Python.h>

#include <atomic>
#include <cmath>
#include <ios>
#include <mutex>

#include "dali_core/operator.hpp"
