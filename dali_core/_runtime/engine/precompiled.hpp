// Precompiled header: the header that most sources begin with. No source depends on it for names.

#include "dali_core/operator.hpp"
