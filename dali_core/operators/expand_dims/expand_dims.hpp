// fn.expand_dims: elements stay where they are; dimensions enter the shape and the layout.
#pragma once

#include <string>

#include "dali_core/tensor.hpp"

namespace dali_core {

// `names[i]` is the letter of the new dimension at position i of the output, or 0 where a dimension
// of the input comes; `is_new` marks new ones. Layouts have letters only if `has_names`.
inline void add_dims(const bool (&is_new)[kMaxDims], const char (&names)[kMaxDims], int num_new,
                     bool has_names, Shape& shape, Layout& layout) {
  Shape expanded;
  Layout letters;
  int source = 0;
  const int ndim = shape.ndim + num_new;
  for (int i = 0; i < ndim; ++i) {
    if (has_names) letters.letters[i] = is_new[i] ? names[i] : layout[source];
    expanded.push_back(is_new[i] ? 1 : shape[source++]);
  }
  shape = expanded;
  layout = letters;
}

}  // namespace dali_core
