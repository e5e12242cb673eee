// How large tensors may be: where counts are computed, and the limits of what arguments ask for.
//
// A tensor obeys `check_size` (types.hpp). So products of any of its extents, its strides, and sums
// of some of these fit 64 bits, and operators compute with them as they are. What arguments say
// passes one of these functions first.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace dali_core {

// Of a tensor; more than a process can address.
constexpr int64_t kMostBytes = int64_t{1} << 47;
// Of one dimension, and of a position beside it.
constexpr int64_t kMostExtent = kMostBytes;
// Of a side of an image that is resampled or warped: kernels count its pixels with 32 bits.
constexpr int64_t kMostPixels = (int64_t{1} << 31) - 1;

struct SizeError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

inline int64_t checked_product(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product))
    throw SizeError("sizes must fit 64 bits (got " + std::to_string(a) + " times " +
                    std::to_string(b) + "). Ask for less.");
  return product;
}

inline int64_t checked_sum(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum))
    throw SizeError("sizes must fit 64 bits (got " + std::to_string(a) + " plus " +
                    std::to_string(b) + "). Ask for less.");
  return sum;
}

// The whole part of a number that must lie in a range; NaN does not.
template <typename Number>
int64_t checked_between(Number value, int64_t least, int64_t most, const char* name) {
  if (value >= static_cast<Number>(least) && value <= static_cast<Number>(most))
    return static_cast<int64_t>(value);
  throw SizeError(std::string(name) + " must be from " + std::to_string(least) + " to " +
                  std::to_string(most) + " (got " + std::to_string(value) +
                  "). Choose a number in this range.");
}

template <typename Number>
int64_t checked_extent(Number value, const char* name) {
  return checked_between(value, 0, kMostExtent, name);
}

template <typename Number>
int64_t checked_position(Number value, const char* name) {
  return checked_between(value, -kMostExtent, kMostExtent, name);
}

}  // namespace dali_core
