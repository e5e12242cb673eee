// Reductions on a device: how elements of a type are loaded, and how one kind of sum grows. For
// device code only.
#pragma once

#include <cstdint>
#include <cstring>

#include "dali_core/device_groups.hpp"
#include "dali_core/kernels/reduction/fold_task.hpp"

namespace dali_core {

// Types that are decided element by element, since they are rare.
struct AnyType {};

#if defined(__CUDACC_RTC__)
#define DC_CALLED __device__ __noinline__
#else
#define DC_CALLED inline
#endif

template <typename Value>
DC_CALLED Value any_element(const void* from, int64_t index, DataType type) {
  Value value{};
  with_type(type, [&](auto zero) {
    value = widened<Value>(static_cast<const decltype(zero)*>(from)[index]);
  });
  return value;
}

template <typename From, typename Value>
inline __device__ Value element_as(const void* from, int64_t index, DataType type) {
  if constexpr (std::is_same_v<From, AnyType>)
    return any_element<Value>(from, index, type);
  else if constexpr (std::is_same_v<From, Half>)
    return half_to_float(static_cast<const Half*>(from)[index]);
  else
    return static_cast<Value>(static_cast<const From*>(from)[index]);
}

template <typename T>
inline __device__ uint64_t bits_of(T value) {
  static_assert(sizeof value == 8);
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

template <typename T>
inline __device__ T from_bits(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Sums in double precision. Squares are deviations from 0.
template <typename Element, typename Term>
struct DoubleFolding {
  using From = Element;
  using Value = double;
  using Sum = double;
  static constexpr int kNumbers = 1;
  using Other = double;  // the mean

  static inline __device__ Sum start() { return 0; }
  static inline __device__ Other other(const FoldTask& task, int64_t output) {
    if (std::is_same_v<Term, SumTerm> || task.means == nullptr) return 0;
    return any_element<double>(task.means, task.one_mean ? 0 : output, task.mean_type);
  }
  static inline __device__ void add(Sum& sum, Value value, Other mean) {
    sum = Term::join(sum, Term::of(value, mean));
  }
  static inline __device__ void add_four(Sum& sum, const Value (&values)[4], Other mean) {
    const Sum first = Term::join(Term::of(values[0], mean), Term::of(values[1], mean));
    const Sum second = Term::join(Term::of(values[2], mean), Term::of(values[3], mean));
    sum = Term::join(sum, Term::join(first, second));
  }
  static inline __device__ void join(uint64_t* bits, const uint64_t* others) {
    *bits = bits_of(from_bits<double>(*bits) + from_bits<double>(*others));
  }
  static inline __device__ void keep(const Sum& sum, uint64_t* bits) { *bits = bits_of(sum); }
};

// Sums of integers, and sums of their squares if asked for, modulo 2^64. Those of a chunk of bytes,
// and sums of 16 bits, need 32.
template <typename Element, bool kHasSquares>
struct IntegerFolding {
  using From = Element;
  using Number = std::conditional_t<std::is_same_v<From, uint8_t>, uint32_t, uint64_t>;
  using Value = std::conditional_t<std::is_same_v<From, int16_t>, int32_t, Number>;
  struct Sum {
    Value sum;
    Number squares;
  };
  static constexpr int kNumbers = kHasSquares ? 2 : 1;
  struct Other {};

  static inline __device__ Sum start() { return {0, 0}; }
  static inline __device__ Other other(const FoldTask&, int64_t) { return {}; }
  static inline __device__ void add(Sum& sum, Value value, Other) {
    sum.sum += value;
    if constexpr (kHasSquares) sum.squares += static_cast<Number>(value * value);
  }
  static inline __device__ void add_four(Sum& sum, const Value (&values)[4], Other) {
#pragma unroll
    for (int i = 0; i < 4; ++i) add(sum, values[i], {});
  }
  static inline __device__ void join(uint64_t* bits, const uint64_t* others) {
#pragma unroll
    for (int i = 0; i < kNumbers; ++i) bits[i] += others[i];
  }
  static inline __device__ void keep(const Sum& sum, uint64_t* bits) {
    bits[0] = static_cast<uint64_t>(static_cast<int64_t>(sum.sum));
    if constexpr (kHasSquares) bits[1] = sum.squares;
  }
};

// The least of numbers that are combined with a mask by exclusive or: with that of the sign, or of
// all bits of integers, it is the greatest one, and with the highest bit that of integers without
// sign. Halves and floats are kept as doubles.
template <typename Element>
struct ExtremeFolding {
  using From = Element;
  using Value = std::conditional_t<
      std::is_same_v<From, double>, double,
      std::conditional_t<is_floating<From>, float,
                         std::conditional_t<std::is_same_v<From, uint8_t>, int32_t, int64_t>>>;
  using Kept = std::conditional_t<std::is_floating_point_v<Value>, double, int64_t>;
  using Sum = Value;
  static constexpr int kNumbers = 1;
  using Other = uint64_t;  // the mask

  static inline __device__ Sum start() {
    using Limits = std::numeric_limits<Value>;
    if constexpr (std::is_floating_point_v<Value>)
      return Limits::infinity();
    else
      return Limits::max();
  }
  static inline __device__ Other other(const FoldTask& task, int64_t) { return task.mask; }
  static inline __device__ void add(Sum& sum, Value value, Other mask) {
    if constexpr (std::is_same_v<Value, float>) {
      const uint32_t sign = static_cast<uint32_t>(mask >> 32);
      sum = MinTerm::join(sum, __uint_as_float(__float_as_uint(value) ^ sign));
    } else if constexpr (std::is_same_v<Value, double>) {
      sum = MinTerm::join(sum, from_bits<double>(bits_of(value) ^ mask));
    } else {
      sum = MinTerm::join(sum, value ^ static_cast<Value>(mask));
    }
  }
  static inline __device__ void add_four(Sum& sum, const Value (&values)[4], Other mask) {
#pragma unroll
    for (int i = 0; i < 4; ++i) add(sum, values[i], mask);
  }
  static inline __device__ void join(uint64_t* bits, const uint64_t* others) {
    *bits = bits_of(MinTerm::join(from_bits<Kept>(*bits), from_bits<Kept>(*others)));
  }
  static inline __device__ void keep(const Sum& sum, uint64_t* bits) {
    *bits = bits_of(static_cast<Kept>(sum));
  }
};

// The element of an output in its type, from the sum in the end.
DC_CALLED void write_output(const FoldTask& task, int64_t output, const uint64_t* bits) {
  const bool is_extreme = task.fold == Fold::kMin || task.fold == Fold::kMax;
  const bool is_double = task.sum_type == SumType::kDouble;
  const uint64_t sum = (task.fold == Fold::kSquares && !is_double ? bits[1] : bits[0]) ^ task.mask;
  double number = is_double ? from_bits<double>(sum) : 0;
  if (task.fold == Fold::kMoments) {
    double mean = 0;
    if (task.means == nullptr) {
      mean =
          static_cast<double>(static_cast<int64_t>(sum)) / static_cast<double>(task.plan.num_terms);
      task.own_means[output] = mean;
    } else {
      mean = any_element<double>(task.means, task.one_mean ? 0 : output, task.mean_type);
    }
    number = squared_deviations(sum, bits[1], task.plan.num_terms, mean, IntegerLimits(task.type));
  }
  const bool is_number = is_double || task.fold == Fold::kMoments;
  with_type(task.output_type, [&](auto zero) {
    using To = decltype(zero);
    To* const out = static_cast<To*>(task.output) + output;
    if (is_extreme) {
      if constexpr (is_floating<To>)
        *out = convert<To>(number);
      else
        *out = static_cast<To>(sum);
    } else if (is_number) {
      *out = finished_double<To>(number, task.divisor, task.finish);
    } else {
      *out = finished_sum<To>(sum, task.sum_type == SumType::kSigned, task.plan.num_terms,
                              task.finish);
    }
  });
}

}  // namespace dali_core
