#include "dali_core/kernels/convolution/convolution_kernels.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "dali_core/kernels/convert/convert_elements.hpp"
#include "dali_core/kernels/convolution/filter.hpp"
#include "dali_core/simd.hpp"

#if DC_SIMD_X86
#include <immintrin.h>
#endif

namespace dali_core {
namespace {

constexpr int64_t kConvertedBlock = 512;

void check_convolved_type(DataType type) {
  if (type == DataType::kBool)
    throw std::invalid_argument(
        "the input must have numbers, which bool has not (got bool). Use fn.cast.");
}

void load_row(const void* row, DataType type, int64_t count, float* out) {
  check_convolved_type(type);
  convert_to_floats(row, type, out, count);
}

void store_row(const float* row, int64_t count, void* out, DataType type) {
  check_convolved_type(type);
  convert_from_floats(row, out, type, count);
}

}  // namespace
}  // namespace dali_core

#define DC_SIMD_SOURCE "dali_core/kernels/convolution/convolution_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

const ConvolutionKernels& convolution_kernels() {
  return DC_SIMD_DISPATCH(convolution::kernel_table);
}

}  // namespace dali_core
