// Conversion of halves by instructions of the device, whose results are those of half.hpp but for
// NaN: of that they lose the content. For device code only.
#pragma once

#include <cstdint>

#include "dali_core/half.hpp"

namespace dali_core {

// Of anything but NaN.
inline __device__ Half number_to_half(float value) {
#if defined(__CUDA_ARCH__)
  Half half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half.bits) : "f"(value));
  return half;
#else
  return to_half(value);
#endif
}

// Of anything, NaN included, which is selected.
inline __device__ float half_to_float(Half half) {
#if defined(__CUDA_ARCH__)
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half.bits));
  const uint32_t magnitude = half.bits & 0x7fffu;
  const uint32_t nan = (half.bits & 0x8000u) << 16 | magnitude << 13 | 0x7fc00000u;
  return magnitude > 0x7c00u ? __uint_as_float(nan) : value;
#else
  return to_float(half);
#endif
}

}  // namespace dali_core
