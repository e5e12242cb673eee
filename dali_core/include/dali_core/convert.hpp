// Conversion between element types, as every operator with a `dtype` does it:
// saturate to the range of the target, and round half away from zero when the target is an integer.
// NaN becomes zero in an integer. A number becomes true if it does not round to zero.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "dali_core/data_type.hpp"
#include "dali_core/half.hpp"
#include "dali_core/host_device.hpp"

namespace dali_core {

template <typename T>
inline constexpr bool is_floating = std::is_floating_point_v<T> || std::is_same_v<T, Half>;

// The number just below one half. Adding it and truncating rounds half away from zero; adding one
// half would also round up its neighbour below.
template <typename T>
inline constexpr T kBelowHalf = T(0.5) - std::numeric_limits<T>::epsilon() / 4;

// Free of branches and calls, so that loops over it vectorise.
template <typename Integer, typename Float>
DC_HOST_DEV Integer round_and_saturate(Float value) {
  using Limits = std::numeric_limits<Integer>;
  constexpr bool is_exact = Limits::digits <= std::numeric_limits<Float>::digits;
  constexpr Float low = static_cast<Float>(Limits::min());
  // The upper limit of a wide integer is no Float: take the neighbour of the power of two above it.
  constexpr Float end = static_cast<Float>(Limits::max() / 2 + 1) * 2;
  constexpr Float high = is_exact ? static_cast<Float>(Limits::max())
                                  : end - end * (std::numeric_limits<Float>::epsilon() / 2);
  Float within = value == value ? value : Float(0);
  within = within < low ? low : within;
  within = within > high ? high : within;
  within += within < Float(0) ? -kBelowHalf<Float> : kBelowHalf<Float>;
  using Truncated = std::conditional_t<(sizeof(Integer) < 4), int32_t, Integer>;
  const Integer rounded = static_cast<Integer>(static_cast<Truncated>(within));
  return !is_exact && value >= end ? Limits::max() : rounded;
}

template <typename To, typename From>
DC_HOST_DEV To convert(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<From, Half>) {
    return convert<To>(to_float(value));
  } else if constexpr (std::is_same_v<To, Half>) {
    return to_half(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    if constexpr (std::is_floating_point_v<From>)
      return !(value > From(-0.5) && value < From(0.5));
    else
      return value != From{};
  } else if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(value);
  } else if constexpr (std::is_floating_point_v<From>) {
    if constexpr (sizeof(To) < 8) {
      return round_and_saturate<To>(value);
    } else {
      // Processors without AVX-512 do this one by one: branches are faster then.
      constexpr From low = static_cast<From>(std::numeric_limits<To>::min());
      constexpr From end = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * 2;
      if (!(value == value)) return 0;
      const From rounded = std::round(value);
      if (rounded >= end) return std::numeric_limits<To>::max();
      if (rounded <= low) return std::numeric_limits<To>::min();
      return static_cast<To>(rounded);
    }
  } else {
    using Limits = std::numeric_limits<To>;
    if constexpr (std::is_signed_v<From> == std::is_signed_v<To>) {
      using Wider = std::conditional_t<(sizeof(From) > sizeof(To)), From, To>;
      constexpr Wider low = static_cast<Wider>(Limits::min());
      constexpr Wider high = static_cast<Wider>(Limits::max());
      Wider wide = static_cast<Wider>(value);
      wide = wide < low ? low : wide;
      wide = wide > high ? high : wide;
      return static_cast<To>(wide);
    } else {
      // Of the two types one is unsigned: no negative number fits both.
      using Wider = std::make_unsigned_t<std::conditional_t<(sizeof(From) > sizeof(To)), From, To>>;
      if constexpr (std::is_signed_v<From>) value = value < From(0) ? From(0) : value;
      constexpr Wider high = static_cast<Wider>(Limits::max());
      Wider wide = static_cast<Wider>(value);
      wide = wide > high ? high : wide;
      return static_cast<To>(wide);
    }
  }
}

}  // namespace dali_core
