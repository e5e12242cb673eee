// fn.random.uniform: how a random number in [0, 1) becomes one of a range.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "dali_core/convert.hpp"
#include "dali_core/host_device.hpp"
#include "dali_core/philox.hpp"

namespace dali_core {

// `unit` is in [0, 1). The result is in [low, high), even where rounding would reach `high`.
template <typename Float>
DC_HOST_DEV Float uniform_in_range(Float unit, float low, float high) {
  const double value = low + static_cast<double>(unit) * (static_cast<double>(high) - low);
  const Float rounded = static_cast<Float>(value);
  const Float end = static_cast<Float>(high);
  return rounded < end ? rounded : std::nextafter(end, static_cast<Float>(low));
}

// Types with more than 24 bits get numbers that can reach all of them.
template <typename T>
inline constexpr bool kIsFine = sizeof(T) >= 4 && !std::is_same_v<T, float>;

template <typename T>
DC_HOST_DEV T draw_from_range(RandomStream& random, float low, float high) {
  if constexpr (kIsFine<T>)
    return convert<T>(uniform_in_range(random.next_double(), low, high));
  else
    return convert<T>(uniform_in_range(random.next_float(), low, high));
}

// What the kernel `draw_uniform` does for one sample. Numbers are from `low` to `high`, or one of
// `values`.
struct UniformTask {
  void* out;
  const float* values;
  int* has_rejected;  // becomes 1 if drawing in parallel is not what drawing one by one is
  int64_t count;
  uint64_t seed;
  SampleKey key;
  float low;
  float high;
  uint32_t num_values;
  DataType type;
};

}  // namespace dali_core
