#include "dali_core/kernels/resample/resample_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "dali_core/kernels/resample/resample_pixel.hpp"
#include "dali_core/kernels/resample/tap_rule.hpp"
#include "dali_core/simd.hpp"

#if DC_SIMD_X86
#include <immintrin.h>
#endif

#define DC_SIMD_SOURCE "dali_core/kernels/resample/resample_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

const ResampleKernels& resample_kernels() { return DC_SIMD_DISPATCH(kernel_table); }

void round_weights(const float* weights, int64_t count, int taps, int16_t* rounded) {
  for (int64_t i = 0; i < count; ++i, weights += taps, rounded += taps)
    round_output_weights(weights, taps, 1, rounded);
}

void pack_fixed_weights(const int16_t* rounded, int64_t count, int taps, int16_t* packed) {
  const int pairs = (taps + 1) / 2;
  std::fill_n(packed, packed_weights_size(count, taps), int16_t{0});
  for (int64_t x = 0; x < count; ++x, rounded += taps) {
    for (int k = 0; k < taps; ++k) {
      int16_t* to = packed + ((x / 2) * pairs + k / 2) * 16 + (x % 2) * 8 + k % 2;
      for (int copy = 0; copy < 4; ++copy) to[2 * copy] = rounded[k];
    }
  }
}

}  // namespace dali_core
