#include "dali_core/operators/cast/cast_tensor.hpp"

#include "dali_core/operators/cast/cast.hpp"
#include "dali_core/simd.hpp"

#if DC_SIMD_X86
#include <immintrin.h>
#endif

#define DC_SIMD_SOURCE "dali_core/operators/cast/cast_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

void cast_tensor(SampleContext& sample, DataType type) {
  const Tensor& input = sample.input(0);
  if (input.type == type) {
    sample.forward(0, input);
    return;
  }
  Tensor& output = sample.output(0, type, input.shape, input.layout);
  DC_SIMD_DISPATCH(cast_elements, input.data, input.type, output.data, type, input.num_elements());
}

}  // namespace dali_core
