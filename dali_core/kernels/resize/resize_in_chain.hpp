// Resizing an image in a chain.
#pragma once

#include "dali_core/kernels/image_chain/image_chain.hpp"

namespace dali_core {

// What `resize_image` does, to rows and columns of an image.
inline bool resize_in_chain(ImageGeometry& image, const ResampleAxis* axes, DataType type) {
  if (type == image.type() && axes[0].is_identity() && axes[1].is_identity()) return true;
  check_size({axes[0].output_size, axes[1].output_size}, type);
  return image.resample(axes[0], axes[1], type);
}

}  // namespace dali_core
