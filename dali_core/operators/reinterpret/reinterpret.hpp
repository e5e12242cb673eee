// fn.reinterpret: bytes stay where they are; this is how many elements of another type they make.
#pragma once

#include <string>

#include "dali_core/reshaping.hpp"

namespace dali_core {

// The shape in elements of `to`, where only the type changes.
inline Shape reinterpreted(Shape shape, DataType from, DataType to) {
  if (size_of(from) == size_of(to)) return shape;
  const int last = shape.ndim - 1;
  const int64_t bytes = (last < 0 ? 1 : shape[last]) * size_of(from);
  if (bytes % size_of(to) != 0 || (last < 0 && bytes != size_of(to)))
    throw std::invalid_argument("the bytes of the last dimension must be a multiple of those of " +
                                std::string(name_of(to)) + " (got " + std::to_string(bytes) +
                                " for shape " + to_string(shape) + "). Pass a shape.");
  if (last >= 0) shape[last] = bytes / size_of(to);
  return shape;
}

}  // namespace dali_core
