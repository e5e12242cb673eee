// fn.random.normal: how two random numbers in [0, 1) become two of normal distribution.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "dali_core/convert.hpp"
#include "dali_core/host_device.hpp"
#include "dali_core/philox.hpp"

namespace dali_core {

struct NormalPair {
  double first, second;
};

// Mean 0 and standard deviation 1. Box, Muller: "A note on the generation of random normal
// deviates", Annals of Mathematical Statistics 29 (1958).
DC_HOST_DEV NormalPair normal_pair(double unit_of_radius, double unit_of_angle) {
  constexpr double kTwoPi = 6.283185307179586476925;
  // 1 - unit is never 0, whose logarithm is infinite.
  const double radius = std::sqrt(-2.0 * std::log(1.0 - unit_of_radius));
  const double angle = kTwoPi * unit_of_angle;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

template <typename T>
DC_HOST_DEV T scaled_normal(double normal, double mean, double stddev) {
  const double value = mean + stddev * normal;
  // Through float: C libraries may differ in the last bit of a double's logarithm.
  if constexpr (std::is_same_v<T, double>)
    return value;
  else
    return convert<T>(static_cast<float>(value));
}

// What the kernel `draw_normal` does for one sample.
struct NormalTask {
  void* out;
  int64_t count;
  uint64_t seed;
  SampleKey key;
  double mean;
  double stddev;
  DataType type;
};

}  // namespace dali_core
