// Reductions: the term of each element, and the result of the sum (host loops and device kernels
// share this).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "dali_core/convert.hpp"
#include "dali_core/data_type.hpp"
#include "dali_core/host_device.hpp"

namespace dali_core {

// Terms take an element, converted to the type of the sum, and the mean that belongs to it.
struct SumTerm {
  // Whether terms may be joined with each other before they are joined with the sum.
  static constexpr bool kPairwise = true;

  template <typename Sum>
  DC_HOST_DEV static Sum of(Sum value, Sum) {
    return value;
  }
  template <typename Sum>
  DC_HOST_DEV static Sum join(Sum a, Sum b) {
    return a + b;
  }
};

struct SquareTerm : SumTerm {
  template <typename Sum>
  DC_HOST_DEV static Sum of(Sum value, Sum) {
    return value * value;
  }
};

struct DeviationTerm : SumTerm {
  template <typename Sum>
  DC_HOST_DEV static Sum of(Sum value, Sum mean) {
    return (value - mean) * (value - mean);
  }
};

// Comparisons with NaN are false: it never replaces the number before it.
struct MinTerm {
  static constexpr bool kPairwise = false;

  template <typename T>
  DC_HOST_DEV static T of(T value, T) {
    return value;
  }
  template <typename T>
  DC_HOST_DEV static T join(T a, T b) {
    return b < a ? b : a;
  }
};

struct MaxTerm : MinTerm {
  template <typename T>
  DC_HOST_DEV static T join(T a, T b) {
    return a < b ? b : a;
  }
};

// The highest of numbers combined with a mask: with all bits set that is the lowest number, with
// the highest bit that of numbers of the other signedness.
struct MaskedMaxTerm : MaxTerm {
  template <typename T>
  DC_HOST_DEV static T of(T value, T mask) {
    return static_cast<T>(value ^ mask);
  }
};

// Limits of an integer type of 8 or 16 bits, or of bool.
struct IntegerLimits {
  double low, high;

  DC_HOST_DEV explicit IntegerLimits(DataType type) {
    const bool is_signed = type == DataType::kInt8 || type == DataType::kInt16;
    const double values = size_of(type) == 1 ? 256 : 65536;
    low = is_signed ? -values / 2 : 0;
    high = low + values - 1;
  }
};

// The sum of squares of differences from `mean` of such integers, from their sum and that of their
// squares, both modulo 2^64. Differences from the integer next to the mean are exact; with those
// from the mean itself, none of the three terms is large where their sum is small.
DC_HOST_DEV double squared_deviations(uint64_t sum, uint64_t squares, int64_t count, double mean,
                                      const IntegerLimits& limits) {
  // The lower limit for NaN.
  const double within = mean > limits.low ? (mean < limits.high ? mean : limits.high) : limits.low;
  const int64_t centre = static_cast<int64_t>(within + (within < 0 ? -0.5 : 0.5));
  const uint64_t bits = static_cast<uint64_t>(centre);
  const uint64_t number = static_cast<uint64_t>(count);
  const uint64_t around_centre = squares - 2 * bits * sum + number * bits * bits;
  const double from_centre = static_cast<double>(static_cast<int64_t>(sum - number * bits));
  const double distance = mean - static_cast<double>(centre);
  return static_cast<double>(around_centre) +
         distance * (static_cast<double>(count) * distance - 2 * from_centre);
}

// What an output is made from the sum over `count` elements.
enum class Finish { kSum, kMean, kRoot };

// Integer outputs: the sum is cut to the output's bits, the quotient to whole numbers.
template <typename To>
DC_HOST_DEV To finish_integer(uint64_t sum, int64_t count, Finish finish) {
  const To cut = static_cast<To>(sum);
  if (finish == Finish::kSum) return cut;
  if (count == 0) return 0;
  To mean;
  if constexpr (std::is_signed_v<To>)
    mean = static_cast<To>(static_cast<int64_t>(cut) / count);
  else
    mean = static_cast<To>(static_cast<uint64_t>(cut) / static_cast<uint64_t>(count));
  if (finish == Finish::kMean) return mean;
  return mean > 0 ? static_cast<To>(std::sqrt(static_cast<double>(mean))) : To(0);
}

DC_HOST_DEV double finish_double(double sum, double count, Finish finish) {
  if (finish == Finish::kSum) return sum;
  const double mean = sum / count;
  return finish == Finish::kMean ? mean : std::sqrt(mean);
}

template <typename To>
DC_HOST_DEV To finished_double(double sum, double count, Finish finish) {
  return convert<To>(finish_double(sum, count, finish));
}

// From an exact sum, of numbers with or without sign.
template <typename To>
DC_HOST_DEV To finished_sum(uint64_t sum, bool is_signed, int64_t count, Finish finish) {
  if constexpr (is_floating<To>) {
    const double number =
        is_signed ? static_cast<double>(static_cast<int64_t>(sum)) : static_cast<double>(sum);
    return finished_double<To>(number, static_cast<double>(count), finish);
  } else if constexpr (std::is_same_v<To, bool>) {
    return false;  // no output is of type bool
  } else {
    return finish_integer<To>(sum, count, finish);
  }
}

}  // namespace dali_core
