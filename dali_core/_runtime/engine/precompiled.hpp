// What most sources begin with. The build precompiles it; no source depends on it for names.

#include "dali_core/operator.hpp"
