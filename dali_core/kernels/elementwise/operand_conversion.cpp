#include <cstring>
#include <stdexcept>

#include "dali_core/convert.hpp"
#include "dali_core/kernels/elementwise/elementwise.hpp"
#include "dali_core/kernels/elementwise/promotion.hpp"
#include "dali_core/simd.hpp"

namespace dali_core {
namespace {

using ConvertOperand = void (*)(const void* in, void* out, int64_t count);

}  // namespace
}  // namespace dali_core

#define DC_SIMD_SOURCE "dali_core/kernels/elementwise/operand_conversion.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

void convert_operand(const void* in, DataType input_type, void* out, DataType output_type,
                     int64_t count) {
  if (size_of(input_type) == size_of(output_type) && !is_float_type(output_type)) {
    // Integers, with a sign or without, or BOOL.
    std::memcpy(out, in, static_cast<size_t>(count * size_of(output_type)));
    return;
  }
  const ConvertOperand convert = DC_SIMD_DISPATCH(select_conversion, input_type, output_type);
  if (convert == nullptr)
    throw std::logic_error("operands of this type are never converted to that of the result");
  convert(in, out, count);
}

}  // namespace dali_core
