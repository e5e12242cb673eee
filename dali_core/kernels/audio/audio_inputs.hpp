// Checks of what operators on audio are given.
#pragma once

#include <stdexcept>
#include <string>

#include "dali_core/tensor.hpp"

namespace dali_core {

inline void check_float(const Tensor& input) {
  if (input.type != DataType::kFloat)
    throw std::invalid_argument("the input must be of type float32 (got " +
                                std::string(name_of(input.type)) + "). Use fn.cast.");
}

// Index of a dimension of a tensor.
inline int checked_axis(int64_t axis, const Shape& shape, bool may_be_negative) {
  const int64_t index = axis < 0 && may_be_negative ? axis + shape.ndim : axis;
  if (index < 0 || index >= shape.ndim)
    throw std::invalid_argument("axis must be a dimension of the input (got " +
                                std::to_string(axis) + " for shape " + to_string(shape) +
                                "). Set another one.");
  return static_cast<int>(index);
}

// Numbers of elements before, along and behind a dimension.
struct AroundAxis {
  AroundAxis(const Shape& shape, int axis) : extent(shape[axis]) {
    for (int i = 0; i < axis; ++i) outer *= shape[i];
    for (int i = axis + 1; i < shape.ndim; ++i) inner *= shape[i];
  }
  int64_t outer = 1, extent, inner = 1;
};

}  // namespace dali_core
