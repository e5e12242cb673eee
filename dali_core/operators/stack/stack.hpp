// fn.stack: shape and layout of tensors side by side along a new dimension.
#pragma once

#include "dali_core/joining.hpp"

namespace dali_core {

inline Shape stacked(const Shape& part, int axis, int count) {
  Shape shape;
  for (int i = 0; i <= part.ndim; ++i) {
    if (i == axis) shape.push_back(count);
    if (i < part.ndim) shape.push_back(part[i]);
  }
  return shape;
}

inline Layout stacked(const Layout& part, int axis, char letter) {
  std::string letters = part.c_str();
  letters.insert(static_cast<size_t>(axis), 1, letter);
  return Layout(letters);
}

}  // namespace dali_core
