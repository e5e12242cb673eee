// fn.noise.shot: numbers of Poisson distribution. Host loop and device kernel share this.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "dali_core/convert.hpp"
#include "dali_core/kernels/exponential/exponential.hpp"
#include "dali_core/kernels/random/gaussian_noise.hpp"
#include "dali_core/philox.hpp"

namespace dali_core {

// Two elements share a block of random bits. What else an element needs is from a stream of its
// own, since that amount is not known beforehand.
struct ElementDraws {
  uint32_t low;
  uint32_t high;
  uint64_t seed;
  SampleKey key;

  // In [0, 1), with 53 bits; the two halves of it, with 32 bits each.
  DC_HOST_DEV double uniform() const {
    return static_cast<double>((low | (uint64_t{high} << 32)) >> 11) * 0x1p-53;
  }
  DC_HOST_DEV double first_half() const { return high * 0x1p-32; }
  DC_HOST_DEV double second_half() const { return low * 0x1p-32; }
  DC_HOST_DEV RandomStream others() const { return RandomStream(mix64(seed), key); }
};

DC_HOST_DEV PhiloxBlock shot_noise_block(uint64_t seed, SampleKey key, int64_t pair) {
  return philox4x32({static_cast<uint32_t>(pair), static_cast<uint32_t>(key.epoch),
                     static_cast<uint32_t>(key.sample), static_cast<uint32_t>(key.sample >> 32)},
                    static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32));
}

DC_HOST_DEV ElementDraws draws_of_element(const PhiloxBlock& block, uint64_t seed, SampleKey key,
                                          int64_t element) {
  const int first = element % 2 == 0 ? 0 : 2;
  return {block[first], block[first + 1], seed + static_cast<uint64_t>(element), key};
}

// The logarithm of k!, by Stirling's series with its first terms; below 10 by multiplication.
DC_HOST_DEV double log_factorial(double k) {
  constexpr double kHalfLogTwoPi = 0.918938533204672741780;
  if (k < 10) {
    double product = 1;
    for (double factor = 2; factor <= k; factor += 1) product *= factor;
    return natural_logarithm(product);
  }
  const double n = k + 1;
  const double inverse = 1 / n;
  const double square = inverse * inverse;
  return (n - 0.5) * natural_logarithm(n) - n + kHalfLogTwoPi +
         inverse * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260)));
}

// By adding up probabilities until they pass a uniform random number.
DC_HOST_DEV double poisson_by_inversion(double mean, double probability_of_none, double uniform) {
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
DC_HOST_DEV double poisson_by_rejection(double mean, const ElementDraws& draws) {
  const double b = 0.931 + 2.53 * std::sqrt(mean);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double quick = 0.9277 - 3.6224 / (b - 2);
  // The centre of an interval, so that neither end is met.
  double u = draws.first_half() + 0x1p-33 - 0.5;
  double v = draws.second_half();
  RandomStream others = draws.others();
  while (true) {
    const double us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= quick) return k;
    const bool is_possible = k >= 0 && (us >= 0.013 || v <= us);
    if (is_possible && natural_logarithm(v * inverse_alpha / (a / (us * us) + b)) <=
                           k * natural_logarithm(mean) - mean - log_factorial(k))
      return k;
    u = others.next_double() - 0.5;
    v = others.next_double();
  }
}

constexpr double kLargestMeanForInversion = 20;
// Beyond, the normal distribution is as close as the precision of numbers.
constexpr double kLargestMeanForRejection = 1e9;

// The probability of no event, where it is needed.
DC_HOST_DEV double probability_of_none(double mean) {
  return mean < kLargestMeanForInversion ? exponential_of_negative(-mean) : 0;
}

DC_HOST_DEV double poisson(double mean, double probability_of_none, const ElementDraws& draws) {
  if (mean < kLargestMeanForInversion)
    return poisson_by_inversion(mean, probability_of_none, draws.uniform());
  if (mean < kLargestMeanForRejection) return poisson_by_rejection(mean, draws);
  const double normal = normal_floats(draws.low, draws.high).first;
  return std::floor(mean + std::sqrt(mean) * normal + 0.5);
}

// A number of events as an element.
template <typename T>
DC_HOST_DEV T counted(double number, double factor) {
  // Through float where that is what the elements are worth.
  if constexpr (std::is_same_v<T, double> || (sizeof(T) > 2 && !is_floating<T>))
    return convert<T>(number * factor);
  else
    return convert<T>(static_cast<float>(number * factor));
}

// `number` makes a number of events of a mean that is above 0 and finite.
template <typename T, typename Number>
DC_HOST_DEV T with_shot_noise(T element, double factor, const Number& number) {
  const double mean = convert<double>(element) / factor;
  if (!(mean > 0)) return T{};
  if (mean == double_of(kInfinityBits)) return element;
  return counted<T>(number(mean), factor);
}

// What the kernel `add_shot_noise` does for one sample.
struct ShotNoiseTask {
  const void* in;
  void* out;
  int64_t count;
  DataType type;
  double factor;
  uint64_t seed;
  SampleKey key;
};

}  // namespace dali_core
