// Fill values as elements (host loops and device kernels share this).
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "dali_core/convert.hpp"
#include "dali_core/host_device.hpp"

namespace dali_core {

// A fill value in the output's type. Integers drop the fraction and keep the low bits, so -1 is
// the largest number of an unsigned type.
template <typename T>
DC_HOST_DEV T fill_value(float value) {
  if constexpr (is_floating<T>)
    return convert<T>(value);
  else if constexpr (std::is_same_v<T, bool>)
    return value != 0;
  else
    return static_cast<T>(convert<int64_t>(std::trunc(value)));
}

}  // namespace dali_core
