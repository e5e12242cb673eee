#include "dali_core/kernels/elementwise/kernels.hpp"
#include "dali_core/kernels/elementwise/promotion.hpp"

#define DC_SIMD_SOURCE "dali_core/kernels/elementwise/vector_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

ElementwiseFunction vector_kernel(Function function, DataType type) {
  return DC_SIMD_DISPATCH(select_kernel, function, type);
}

}  // namespace dali_core
