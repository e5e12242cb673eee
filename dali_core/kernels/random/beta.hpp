// fn.random.beta: numbers of gamma distribution, and what two of them make.
#pragma once

#include <cmath>

#include "dali_core/kernels/random/normal.hpp"
#include "dali_core/philox.hpp"

namespace dali_core {

// Natural logarithm of a number of gamma distribution with scale 1. The number itself would
// underflow for a small shape. Marsaglia, Tsang: "A simple method for generating gamma variables",
// ACM Transactions on Mathematical Software 26 (2000); section 6 for shapes below 1.
inline double log_gamma_variate(double shape, RandomStream& random) {
  double correction = 0;
  if (shape < 1) {
    correction = std::log(1.0 - random.next_double()) / shape;
    shape += 1;
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double radius = random.next_double();
    const double normal = normal_pair(radius, random.next_double()).first;
    const double root = 1.0 + c * normal;
    if (root <= 0) continue;
    const double cube = root * root * root;
    const double log_unit = std::log(1.0 - random.next_double());
    if (log_unit < 0.5 * normal * normal + d - d * cube + d * std::log(cube))
      return std::log(d * cube) + correction;
  }
}

// First / (first + second), from the logarithms of two numbers of gamma distribution.
inline double beta_from_gammas(double log_first, double log_second) {
  return 1.0 / (1.0 + std::exp(log_second - log_first));
}

}  // namespace dali_core
