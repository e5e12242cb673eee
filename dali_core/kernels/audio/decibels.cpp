#include "dali_core/kernels/audio/decibels.hpp"

#include <algorithm>

#include "dali_core/simd.hpp"

#define DC_SIMD_SOURCE "dali_core/kernels/audio/decibels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

void convert_to_decibels(const DecibelRule& rule, const float* in, float* out, int64_t count) {
  float reference = rule.reference;
  if (reference == 0) {
    // Starts at 0: a signal without anything positive has no other reference.
    reference = DC_SIMD_DISPATCH(largest_of, in, count);
    if (reference == 0) reference = 1;
  }
  const float factor = 1 / reference;
  if (!rule.is_normal()) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = decibels_of_any(in[i] * factor, rule.least, rule.multiplier);
    return;
  }
  DC_SIMD_DISPATCH(decibels_of, in, out, count, factor, rule.least, rule.multiplier,
                   natural_scale(rule));
}

}  // namespace dali_core
