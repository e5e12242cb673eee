#include <algorithm>
#include <cstring>

#include "dali_core/kernels/reduction/reduce_loops.hpp"
#include "dali_core/simd.hpp"

#define DC_SIMD_SOURCE "dali_core/kernels/reduction/reduce_doubles.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

ReductionLoops loops_of_doubles(Fold fold, DataType type, int64_t terms) {
  return DC_SIMD_DISPATCH(reductions::select_loops, fold, type, terms);
}

}  // namespace dali_core
