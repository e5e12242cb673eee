// Size limits of tensors: checks where counts are computed, and limits of what arguments ask for.
//
// A tensor obeys `check_size` (types.hpp). So products of any of its extents, its strides, and sums
// of some of these fit 64 bits, and operators compute with them as they are. What arguments say
// passes one of these functions first.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <type_traits>

namespace dali_core {

// Of a tensor; more than a process can address.
constexpr int64_t kMaxBytes = int64_t{1} << 47;
// Of one dimension, and of a position beside it.
constexpr int64_t kMaxExtent = kMaxBytes;
// Of a side of an image that is resampled or warped: kernels count its pixels with 32 bits.
constexpr int64_t kMaxPixels = (int64_t{1} << 31) - 1;

struct SizeError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// Errors of the checks below: out of line, since every caller would repeat their texts.
[[noreturn]] void refuse_product(int64_t a, int64_t b);
[[noreturn]] void refuse_sum(int64_t a, int64_t b);
[[noreturn]] void refuse_number(int64_t value, int64_t least, int64_t most, const char* name);
[[noreturn]] void refuse_number(uint64_t value, int64_t least, int64_t most, const char* name);
[[noreturn]] void refuse_number(double value, int64_t least, int64_t most, const char* name);

inline int64_t checked_product(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) refuse_product(a, b);
  return product;
}

inline int64_t checked_sum(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) refuse_sum(a, b);
  return sum;
}

// The whole part of a number that must lie in a range; NaN does not.
template <typename Number>
int64_t checked_between(Number value, int64_t least, int64_t most, const char* name) {
  if (value >= static_cast<Number>(least) && value <= static_cast<Number>(most))
    return static_cast<int64_t>(value);
  using Wide = std::conditional_t<std::is_floating_point_v<Number>, double,
                                  std::conditional_t<std::is_signed_v<Number>, int64_t, uint64_t>>;
  refuse_number(static_cast<Wide>(value), least, most, name);
}

template <typename Number>
int64_t checked_extent(Number value, const char* name) {
  return checked_between(value, 0, kMaxExtent, name);
}

template <typename Number>
int64_t checked_position(Number value, const char* name) {
  return checked_between(value, -kMaxExtent, kMaxExtent, name);
}

}  // namespace dali_core
