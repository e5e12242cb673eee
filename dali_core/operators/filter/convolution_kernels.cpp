#include "dali_core/convolution_kernels.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "dali_core/convert.hpp"
#include "dali_core/operators/filter/filter.hpp"
#include "dali_core/simd.hpp"

#if DC_SIMD_X86
#include <immintrin.h>
#endif

namespace dali_core {
namespace {

// Calls `function` with an object of the C++ type behind `type`, which must be a number.
template <typename Function>
void visit_convolved_type(DataType type, Function&& function) {
  visit_type(type, [&](auto zero) {
    if constexpr (std::is_same_v<decltype(zero), bool>)
      throw std::invalid_argument(
          "the input must have numbers, which bool has not (got bool). Use fn.cast.");
    else
      function(zero);
  });
}

}  // namespace
}  // namespace dali_core

#define DC_SIMD_SOURCE "dali_core/operators/filter/convolution_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

const ConvolutionKernels& convolution_kernels() {
  return DC_SIMD_DISPATCH(convolution::kernel_table);
}

}  // namespace dali_core
