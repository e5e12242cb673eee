// Taking a window of an image in a chain.
#pragma once

#include "dali_core/kernels/image_chain/image_chain.hpp"
#include "dali_core/kernels/window/window_copy.hpp"

namespace dali_core {

// What WindowCopy does to an image; the first two dimensions of the window are rows and columns.
inline bool crop_in_chain(ImageGeometry& image, const WindowCopy& copy, const Window& window) {
  return copy.output_type(image.type()) == image.type() &&
         image.crop(window.start[0], window.start[1], window.extent[0], window.extent[1]);
}

}  // namespace dali_core
