// fn.per_frame changes the layout alone: there is no rule for elements.
#pragma once

#include "dali_core/types.hpp"

namespace dali_core {

// The layout of a sequence of `ndim` dimensions that had this layout, or none.
inline Layout sequence_layout(Layout layout, int ndim) {
  for (int i = layout.ndim(); i < ndim; ++i) layout.letters[i] = '*';
  layout.letters[0] = 'F';
  return layout;
}

}  // namespace dali_core
