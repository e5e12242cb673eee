// Division of places by extents that are known beforehand: a multiplication and a shift.
// Granlund, Montgomery: "Division by invariant integers using multiplication", PLDI 1994.
#pragma once

#include <cstdint>

#include "dali_core/host_device.hpp"

namespace dali_core {

struct QuickDivisor {
  int64_t divisor = 1;
  uint32_t multiplier = 1;
  uint32_t shift = 0;
};

constexpr int64_t kQuickLimit = int64_t{1} << 31;

// `divisor` is above 0.
inline QuickDivisor quick_divisor(int64_t divisor) {
  QuickDivisor quick;
  quick.divisor = divisor;
  if (divisor >= kQuickLimit) return quick;
  while ((int64_t{1} << quick.shift) < divisor) ++quick.shift;
  const uint64_t power = uint64_t{1} << quick.shift;
  const uint64_t rest = power - static_cast<uint64_t>(divisor);
  quick.multiplier = static_cast<uint32_t>((rest << 32) / static_cast<uint64_t>(divisor) + 1);
  return quick;
}

// For tensors of billions of elements. It is long, so device code has it once.
#if defined(__CUDACC_RTC__)
__device__ __noinline__
#endif
    inline int64_t long_quotient(int64_t number, int64_t divisor) {
  return number / divisor;
}

// Number and divisor are below kQuickLimit.
DC_HOST_DEV uint32_t small_quotient(uint32_t number, const QuickDivisor& by) {
  const uint32_t high = static_cast<uint32_t>((uint64_t{by.multiplier} * number) >> 32);
  return (high + number) >> by.shift;
}

// `number` is not negative.
DC_HOST_DEV int64_t quotient(int64_t number, const QuickDivisor& by) {
  if (number >= kQuickLimit || by.divisor >= kQuickLimit) return long_quotient(number, by.divisor);
  return small_quotient(static_cast<uint32_t>(number), by);
}

}  // namespace dali_core
