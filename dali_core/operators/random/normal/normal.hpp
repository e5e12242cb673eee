// fn.random.normal: how two random numbers in [0, 1) become two of normal distribution.
#pragma once

#include <cmath>

#include "dali_core/host_device.hpp"

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

}  // namespace dali_core
