// fn.squeeze: elements stay where they are; dimensions leave the shape and the layout.
#pragma once

#include "dali_core/tensor.hpp"

namespace dali_core {

inline void remove_dims(const bool (&removed)[kMaxDims], Shape& shape, Layout& layout) {
  Shape kept;
  Layout letters;
  for (int i = 0; i < shape.ndim; ++i) {
    if (removed[i]) continue;
    if (layout.ndim() == shape.ndim) letters.letters[kept.ndim] = layout[i];
    kept.push_back(shape[i]);
  }
  shape = kept;
  layout = letters;
}

}  // namespace dali_core
