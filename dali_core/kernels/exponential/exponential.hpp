// Logarithms and powers of e in double precision: arithmetic only, without the mathematical
// library, so that hosts and devices get the same bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "dali_core/host_device.hpp"

namespace dali_core {

// The logarithm of 2 in two parts, of which the first ends with zeros: its product with an exponent
// is exact.
constexpr double kLogTwoHigh = 0x1.62e42fefap-1;
constexpr double kLogTwoLow = 0x1.cf79abc9e3b3ap-40;

constexpr uint64_t kInfinityBits = 0x7ff0000000000000;
constexpr uint64_t kMinusInfinityBits = 0xfff0000000000000;
constexpr uint64_t kNotANumberBits = 0x7ff8000000000000;

DC_HOST_DEV double double_of(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// The natural logarithm, as exact as that of mathematical libraries but for the last bits.
DC_HOST_DEV double natural_logarithm(double value) {
  const double infinity = double_of(kInfinityBits);
  if (value == 0) return double_of(kMinusInfinityBits);
  if (!(value > 0)) return double_of(kNotANumberBits);
  if (value == infinity) return infinity;
  const bool is_subnormal = value < 0x1p-1022;
  if (is_subnormal) value *= 0x1p54;
  int64_t pattern;
  std::memcpy(&pattern, &value, sizeof pattern);
  // value = mantissa * 2^exponent, with a mantissa from sqrt(1/2) to sqrt(2).
  const int64_t exponent = (pattern - 0x3fe6a09e667f3bcd) >> 52;
  const double mantissa = double_of(static_cast<uint64_t>(pattern - exponent * (int64_t{1} << 52)));
  // log(m) = 2 artanh((m - 1) / (m + 1)), as a series.
  const double s = (mantissa - 1) / (mantissa + 1);
  const double q = s * s;
  const double tail =
      1.0 / 11 + q * (1.0 / 13 + q * (1.0 / 15 + q * (1.0 / 17 + q * (1.0 / 19 + q * (1.0 / 21)))));
  const double series = q * (1.0 / 3 + q * (1.0 / 5 + q * (1.0 / 7 + q * (1.0 / 9 + q * tail))));
  const double twos = static_cast<double>(exponent - (is_subnormal ? 54 : 0));
  return twos * kLogTwoHigh + (twos * kLogTwoLow + 2 * s * series + 2 * s);
}

// e to the power of a number from -700 to 0.
DC_HOST_DEV double exponential_of_negative(double power) {
  const double twos = std::floor(power * 1.44269504088896340736 + 0.5);
  const double r = (power - twos * kLogTwoHigh) - twos * kLogTwoLow;
  // Taylor's series, for an r of at most log(2) / 2.
  const double tail =
      1.0 / 40320 + r * (1.0 / 362880 +
                         r * (1.0 / 3628800 + r * (1.0 / 39916800 + r * (1.0 / 479001600 +
                                                                         r * (1.0 / 6227020800)))));
  const double middle = 1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720 + r * (1.0 / 5040 + r * tail)));
  const double series = 1 + r * (1 + r * (1.0 / 2 + r * (1.0 / 6 + r * middle)));
  return series * double_of((static_cast<uint64_t>(static_cast<int64_t>(twos) + 1023)) << 52);
}

}  // namespace dali_core
