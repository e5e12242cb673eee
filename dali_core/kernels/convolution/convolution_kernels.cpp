#include "dali_core/kernels/convolution/convolution_kernels.hpp"

#include <algorithm>

#include "dali_core/kernels/convert/convert_elements.hpp"
#include "dali_core/kernels/convolution/filter.hpp"
#include "dali_core/simd.hpp"

#if DC_SIMD_X86
#include <immintrin.h>
#endif

namespace dali_core {
namespace {

constexpr int64_t kConvertedBlock = 512;

void load_row(const void* row, DataType type, int64_t count, float* out) {
  convert_to_floats(row, type, out, count);
}

void store_row(const float* row, int64_t count, void* out, DataType type) {
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
