// fn.noise.shot: numbers of Poisson distribution.
#pragma once

#include <cmath>
#include <cstdint>

#include "dali_core/host_device.hpp"
#include "dali_core/kernels/random/normal.hpp"

namespace dali_core {

// The logarithm of k!, by Stirling's series with its first terms; below 10 by multiplication.
DC_HOST_DEV double log_factorial(double k) {
  constexpr double kHalfLogTwoPi = 0.918938533204672741780;
  if (k < 10) {
    double product = 1;
    for (double factor = 2; factor <= k; factor += 1) product *= factor;
    return std::log(product);
  }
  const double n = k + 1;
  const double inverse = 1 / n;
  const double square = inverse * inverse;
  return (n - 0.5) * std::log(n) - n + kHalfLogTwoPi +
         inverse * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260)));
}

// By adding up probabilities until they pass a uniform random number.
template <typename Random>
DC_HOST_DEV double poisson_by_inversion(double mean, double probability_of_none, Random& random) {
  const double uniform = random.next_double();
  double probability = probability_of_none;
  double sum = probability;
  int k = 0;
  // Far out, the sum no longer grows for rounding.
  while (uniform > sum && k < 200) {
    ++k;
    probability *= mean / k;
    sum += probability;
  }
  return k;
}

// Hoermann: "The transformed rejection method for generating Poisson random variables", Insurance:
// Mathematics and Economics 12 (1993), algorithm PTRS; for means of at least 10.
template <typename Random>
DC_HOST_DEV double poisson_by_rejection(double mean, Random& random) {
  const double log_mean = std::log(mean);
  const double b = 0.931 + 2.53 * std::sqrt(mean);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double quick = 0.9277 - 3.6224 / (b - 2);
  while (true) {
    const double u = random.next_double() - 0.5;
    const double v = random.next_double();
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= quick) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v * inverse_alpha / (a / (us * us) + b)) <= k * log_mean - mean - log_factorial(k))
      return k;
  }
}

constexpr double kLargestMeanForInversion = 20;
// Beyond, the normal distribution is as close as the precision of numbers.
constexpr double kLargestMeanForRejection = 1e9;

template <typename Random>
DC_HOST_DEV double poisson(double mean, double probability_of_none, Random& random) {
  if (mean < kLargestMeanForInversion)
    return poisson_by_inversion(mean, probability_of_none, random);
  if (mean < kLargestMeanForRejection) return poisson_by_rejection(mean, random);
  const double radius = random.next_double();
  return std::floor(mean + std::sqrt(mean) * normal_pair(radius, random.next_double()).first + 0.5);
}

}  // namespace dali_core
