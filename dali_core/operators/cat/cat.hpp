// fn.cat: shape of tensors side by side along one of their dimensions.
#pragma once

#include "dali_core/joining.hpp"

namespace dali_core {

// Tensors without elements are left out; if all are, the first one is the result. `only` becomes
// the number of the tensor that makes up the whole result, or -1.
inline Shape concatenated(const SampleContext& sample, int axis, int& only) {
  Shape shape = sample.input(0).shape;
  only = -1;
  int num_parts = 0;
  for (int i = 0; i < sample.num_inputs(); ++i) {
    const Shape& part = sample.input(i).shape;
    if (part.num_elements() == 0) continue;
    if (num_parts++ == 0) {
      shape = part;
      only = i;
      continue;
    }
    only = -1;
    for (int dim = 0; dim < shape.ndim; ++dim)
      if (dim != axis && part[dim] != shape[dim])
        throw std::invalid_argument("inputs must differ in extent along axis " +
                                    std::to_string(axis) + " only (got shape " + to_string(part) +
                                    " in input " + std::to_string(i) + " after " +
                                    to_string(shape) + "). Crop or pad them before.");
    shape[axis] += part[axis];
  }
  if (num_parts == 0) only = 0;
  return shape;
}

}  // namespace dali_core
