// A window of a tensor, and what lies beside the tensor, for every operator that cuts or pads.
#pragma once

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "dali_core/host_device.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

// Part of a tensor. It may reach outside.
struct Window {
  Shape start;  // may be negative
  Shape extent;

  explicit Window(const Shape& whole) : extent(whole) { start.ndim = whole.ndim; }

  bool is_whole(const Shape& shape) const {
    for (int i = 0; i < shape.ndim; ++i)
      if (start[i] != 0 || extent[i] != shape[i]) return false;
    return true;
  }

  bool is_inside(int dim, const Shape& shape) const {
    return start[dim] >= 0 && start[dim] + extent[dim] <= shape[dim];
  }
};

// Position along one dimension in the input; outside of it lies padding.
DC_HOST_DEV int64_t window_source(int64_t position, int64_t window_start) {
  return position + window_start;
}

// Windows drop the fraction where casting rounds, and keep halves finite.
template <typename To, typename From>
DC_HOST_DEV To window_convert(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<From, Half>) {
    return window_convert<To>(to_float(value));
  } else if constexpr (std::is_same_v<To, Half>) {
    float number = static_cast<float>(value);
    number = number > 65504.0f ? 65504.0f : number;
    number = number < -65504.0f ? -65504.0f : number;
    return to_half(number);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return convert<To>(std::trunc(value));
  } else {
    return convert<To>(value);
  }
}

// What lies beside the input: nothing (an error, or trimmed away), a value, or the input again.
enum class OutOfBounds { kError, kTrim, kPad, kEdge, kReflect, kReflect101, kWrap };

inline bool repeats_input(OutOfBounds policy) { return policy >= OutOfBounds::kEdge; }

inline OutOfBounds out_of_bounds_policy(const OperatorConfig& config, bool may_repeat) {
  static const std::map<std::string, OutOfBounds> policies = {
      {"error", OutOfBounds::kError},
      {"trim_to_shape", OutOfBounds::kTrim},
      {"pad", OutOfBounds::kPad},
      {"constant", OutOfBounds::kPad},
      {"edge", OutOfBounds::kEdge},
      {"clamp", OutOfBounds::kEdge},
      {"reflect", OutOfBounds::kReflect},
      {"reflect_1001", OutOfBounds::kReflect},
      {"reflect_101", OutOfBounds::kReflect101},
      {"reflect101", OutOfBounds::kReflect101},
      {"wrap", OutOfBounds::kWrap},
  };
  const std::string given = config.get_or<std::string>("out_of_bounds_policy", "error");
  std::string name = given;
  for (char& letter : name) letter = static_cast<char>(std::tolower(letter));
  const auto found = policies.find(name);
  if (found == policies.end() || (repeats_input(found->second) && !may_repeat))
    throw std::invalid_argument(
        std::string("out_of_bounds_policy must be \"error\", \"pad\"") +
        (may_repeat ? ", \"edge\", \"reflect\", \"reflect_101\", \"wrap\"" : "") +
        " or \"trim_to_shape\" (got \"" + given + "\"). Use one of them.");
  return found->second;
}

// Position inside the input that a position beside it repeats. `extent` is above 0.
DC_HOST_DEV int64_t repeated_source(int64_t position, int64_t extent, OutOfBounds policy) {
  if (policy == OutOfBounds::kEdge || extent == 1)
    return position < 0 ? 0 : position >= extent ? extent - 1 : position;
  const int64_t period = policy == OutOfBounds::kWrap      ? extent
                         : policy == OutOfBounds::kReflect ? 2 * extent
                                                           : 2 * extent - 2;
  position %= period;
  if (position < 0) position += period;
  if (position < extent) return position;
  return policy == OutOfBounds::kReflect ? period - 1 - position : period - position;
}

// Refuses or trims a window that reaches outside the input, unless it is to be padded.
inline void apply_policy(Window& window, const Shape& shape, OutOfBounds policy) {
  for (int i = 0; i < shape.ndim; ++i) {
    if (window.is_inside(i, shape) || policy == OutOfBounds::kPad) continue;
    if (repeats_input(policy)) {
      if (shape[i] > 0) continue;
      throw std::invalid_argument("the input must not be empty (got shape " + to_string(shape) +
                                  "). There is nothing to repeat; pad instead.");
    }
    if (policy == OutOfBounds::kError)
      throw std::invalid_argument(
          "the window must lie inside the input (got a window of shape " +
          to_string(window.extent) + " from " + to_string(window.start) +
          " on in an input of shape " + to_string(shape) +
          "). Make it smaller, resize before, or set out_of_bounds_policy to \"pad\" or "
          "\"trim_to_shape\".");
    const int64_t end = window.start[i] + window.extent[i];
    window.start[i] = std::clamp<int64_t>(window.start[i], 0, shape[i]);
    window.extent[i] = std::clamp<int64_t>(end, window.start[i], shape[i]) - window.start[i];
  }
}

// A fill value in the output's type. Integers drop the fraction and keep the low bits, so -1 is
// the largest number of an unsigned type.
template <typename T>
T fill_value(float value) {
  if constexpr (is_floating<T>)
    return convert<T>(value);
  else if constexpr (std::is_same_v<T, bool>)
    return value != 0;
  else
    return static_cast<T>(convert<int64_t>(std::trunc(value)));
}

}  // namespace dali_core
