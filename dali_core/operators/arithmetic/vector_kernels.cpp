#include "dali_core/convert.hpp"
#include "dali_core/operators/arithmetic/kernels.hpp"
#include "dali_core/operators/arithmetic/promotion.hpp"

#define DC_SIMD_SOURCE "dali_core/operators/arithmetic/vector_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

ElementwiseFunction vector_kernel(Function function, DataType type) {
  return DC_SIMD_DISPATCH(select_kernel, function, type);
}

void convert_operand(const void* in, DataType input_type, void* out, DataType output_type,
                     int64_t count) {
  DC_SIMD_DISPATCH(convert_any, in, input_type, out, output_type, count);
}

}  // namespace dali_core
