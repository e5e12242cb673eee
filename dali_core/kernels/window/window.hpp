// A window of a tensor, and what lies beside the tensor, for every operator that cuts or pads.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

#include "dali_core/kernels/window/window_rule.hpp"
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
  const std::string given = config.get<std::string>("out_of_bounds_policy");
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

}  // namespace dali_core
