// What modules made by Cython begin with. The build precompiles it; no source depends on it for
// names. Before Python's header comes what Cython defines before it.

#define PY_SSIZE_T_CLEAN

#include <Python.h>

#include <atomic>
#include <cmath>
#include <ios>
#include <mutex>

#include "dali_core/operator.hpp"
