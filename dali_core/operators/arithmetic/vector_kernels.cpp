#include <cstring>

#include "dali_core/convert_elements.hpp"
#include "dali_core/operators/arithmetic/kernels.hpp"
#include "dali_core/operators/arithmetic/promotion.hpp"

namespace dali_core {
namespace {

using IntegerConversion = void (*)(const void* in, void* out, int64_t count);

}  // namespace
}  // namespace dali_core

#define DC_SIMD_SOURCE "dali_core/operators/arithmetic/vector_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

ElementwiseFunction vector_kernel(Function function, DataType type) {
  return DC_SIMD_DISPATCH(select_kernel, function, type);
}

void convert_operand(const void* in, DataType input_type, void* out, DataType output_type,
                     int64_t count) {
  const bool to_float = is_float_type(output_type) || output_type == DataType::kFloat16;
  if (to_float) return convert_elements(in, input_type, out, output_type, count);
  // Integers wrap around, where convert_elements() saturates.
  const int64_t bytes = size_of(output_type);
  if (size_of(input_type) == bytes)
    std::memcpy(out, in, static_cast<size_t>(count * bytes));
  else
    DC_SIMD_DISPATCH(select_conversion, input_type, bytes)(in, out, count);
}

}  // namespace dali_core
