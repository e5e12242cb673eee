// The functions of expressions: what they are called, and what they compute from one element of
// each operand. Host loops and device kernels share the rules.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "dali_core/host_device.hpp"

namespace dali_core {

enum class Function {
  kPlus,
  kMinus,
  kAbs,
  kInvert,
  kAdd,
  kSub,
  kMul,
  kTrueDiv,
  kFloorDiv,
  kMod,
  kPow,
  kMin,
  kMax,
  kClamp,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kAnd,
  kOr,
  kXor,
  kShiftLeft,
  kShiftRight,
  kFloatPow,
  kAtan2,
  kFabs,
  kFloor,
  kCeil,
  kSqrt,
  kRsqrt,
  kCbrt,
  kExp,
  kLog,
  kLog2,
  kLog10,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
};

// Integers wrap around: they are computed without a sign, in at least 32 bits.
template <typename T>
using Wrapping = std::conditional_t<(sizeof(T) > 4), uint64_t, uint32_t>;

struct AddRule {
  template <typename T>
  DC_HOST_DEV static T of(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a + b;
    else
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};

struct SubRule {
  template <typename T>
  DC_HOST_DEV static T of(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a - b;
    else
      return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  }
};

struct MulRule {
  template <typename T>
  DC_HOST_DEV static T of(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a * b;
    else
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};

struct DivRule {
  template <typename T>
  DC_HOST_DEV static T of(T a, T b) {
    return a / b;
  }
};

// Where an operand is not a number, the second one is given.
struct MinRule {
  template <typename T>
  DC_HOST_DEV static T of(T a, T b) {
    return a < b ? a : b;
  }
};

struct MaxRule {
  template <typename T>
  DC_HOST_DEV static T of(T a, T b) {
    return a > b ? a : b;
  }
};

struct ClampRule {
  template <typename T>
  DC_HOST_DEV static T of(T value, T low, T high) {
    const T raised = value < low ? low : value;
    return raised > high ? high : raised;
  }
};

struct EqualRule {
  template <typename T>
  DC_HOST_DEV static bool of(T a, T b) {
    return a == b;
  }
};

struct LessRule {
  template <typename T>
  DC_HOST_DEV static bool of(T a, T b) {
    return a < b;
  }
};

struct LessEqualRule {
  template <typename T>
  DC_HOST_DEV static bool of(T a, T b) {
    return a <= b;
  }
};

// Without a sign against with one: a negative number is less than all others, whatever its bits.
template <typename Rule>
struct MixedRule {
  DC_HOST_DEV static bool of(uint64_t a, int64_t b) {
    return b < 0 ? Rule::template of<int>(1, 0)
                 : Rule::template of<uint64_t>(a, static_cast<uint64_t>(b));
  }
  DC_HOST_DEV static bool of(int64_t a, uint64_t b) {
    return a < 0 ? Rule::template of<int>(0, 1)
                 : Rule::template of<uint64_t>(static_cast<uint64_t>(a), b);
  }
};

template <typename Rule>
struct NotRule {
  template <typename A, typename B>
  DC_HOST_DEV static bool of(A a, B b) {
    return !Rule::of(a, b);
  }
};

template <typename Rule>
struct SwappedRule {
  template <typename A, typename B>
  DC_HOST_DEV static bool of(A a, B b) {
    return Rule::of(b, a);
  }
};

struct AndRule {
  template <typename T>
  DC_HOST_DEV static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};

struct OrRule {
  template <typename T>
  DC_HOST_DEV static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};

struct XorRule {
  template <typename T>
  DC_HOST_DEV static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

// Shifts use the lowest five bits of the distance (six for 64-bit numbers), as processors do.
template <typename T>
DC_HOST_DEV int shift_distance(T distance) {
  return static_cast<int>(static_cast<Wrapping<T>>(distance) & (sizeof(Wrapping<T>) * 8 - 1));
}

struct ShiftLeftRule {
  template <typename T>
  DC_HOST_DEV static T of(T a, T b) {
    const Wrapping<T> shifted = static_cast<Wrapping<T>>(a) << shift_distance(b);
    if constexpr (std::is_same_v<T, bool>)
      return shifted != 0;
    else
      return static_cast<T>(shifted);
  }
};

struct ShiftRightRule {
  template <typename T>
  DC_HOST_DEV static T of(T a, T b) {
    using Wide = std::conditional_t<(sizeof(T) > 4), int64_t, int32_t>;
    using Shifted = std::conditional_t<std::is_signed_v<T>, Wide, Wrapping<T>>;
    return static_cast<T>(static_cast<Shifted>(a) >> shift_distance(b));
  }
};

struct PlusRule {
  template <typename T>
  DC_HOST_DEV static T of(T a) {
    return a;
  }
};

struct MinusRule {
  template <typename T>
  DC_HOST_DEV static T of(T a) {
    if constexpr (std::is_floating_point_v<T>)
      return -a;
    else
      return SubRule::of(T(0), a);
  }
};

struct AbsRule {
  template <typename T>
  DC_HOST_DEV static T of(T a) {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(a);
    else if constexpr (std::is_signed_v<T>)
      return a < T(0) ? MinusRule::of(a) : a;
    else
      return a;
  }
};

struct InvertRule {
  template <typename T>
  DC_HOST_DEV static T of(T a) {
    if constexpr (std::is_same_v<T, bool>)
      return !a;
    else
      return static_cast<T>(~a);
  }
};

struct SqrtRule {
  template <typename T>
  DC_HOST_DEV static T of(T a) {
    return std::sqrt(a);
  }
};

struct RsqrtRule {
  template <typename T>
  DC_HOST_DEV static T of(T a) {
    return T(1) / std::sqrt(a);
  }
};

struct FloorRule {
  template <typename T>
  DC_HOST_DEV static T of(T a) {
    return std::floor(a);
  }
};

struct CeilRule {
  template <typename T>
  DC_HOST_DEV static T of(T a) {
    return std::ceil(a);
  }
};

// Quotient of integers, rounded towards zero. The divisor is not zero.
struct FloorDivRule {
  template <typename T>
  DC_HOST_DEV static T of(T a, T b) {
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1)) return MinusRule::of(a);  // the quotient may not exist, and then wraps
    return static_cast<T>(a / b);
  }
};

// Remainder with the sign of the dividend. The divisor is not zero.
struct ModRule {
  template <typename T>
  DC_HOST_DEV static T of(T a, T b) {
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1)) return T(0);
    return static_cast<T>(a % b);
  }
};

// Powers of integers wrap around; those with a negative exponent are 0.
struct PowRule {
  template <typename T>
  DC_HOST_DEV static T of(T base, T exponent) {
    if constexpr (std::is_floating_point_v<T>) {
      // The square is rounded correctly either way, and by far the most frequent power.
      return exponent == T(2) ? base * base : std::pow(base, exponent);
    } else {
      if constexpr (std::is_signed_v<T>)
        if (exponent < T(0)) return T(0);
      Wrapping<T> result = 1;
      Wrapping<T> square = static_cast<Wrapping<T>>(base);
      for (Wrapping<T> left = static_cast<Wrapping<T>>(exponent); left != 0; left >>= 1) {
        if (left & 1) result *= square;
        square *= square;
      }
      return static_cast<T>(result);
    }
  }
};

}  // namespace dali_core
