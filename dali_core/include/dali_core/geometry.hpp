// The axes and strides of images, volumes and sequences.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "dali_core/tensor.hpp"

namespace dali_core {

// Position of each dimension in a layout, or -1.
struct ImageAxes {
  int frame = -1;
  int depth = -1;
  int height = -1;
  int width = -1;
  int channel = -1;
};

// The layout of an image, or the usual one where none is set; `of_four` is the one of 4 dimensions,
// which operators read differently.
inline Layout image_layout(const Tensor& image, const char* of_four) {
  const int ndim = image.shape.ndim;
  if (!image.layout.empty()) {
    if (image.layout.ndim() != ndim)
      throw std::invalid_argument("the input's layout must have one letter a dimension (got \"" +
                                  std::string(image.layout.c_str()) + "\" for shape " +
                                  to_string(image.shape) + "). Set a layout that fits.");
    return image.layout;
  }
  switch (ndim) {
    case 2:
      return Layout("HW");
    case 3:
      return Layout("HWC");
    case 4:
      return Layout(of_four);
    case 5:
      return Layout("FDHWC");
    default:
      throw std::invalid_argument(
          "the input must be an image, a volume or a sequence of them, of 2 to 5 dimensions (got "
          "shape " +
          to_string(image.shape) + "). Reshape it.");
  }
}

inline ImageAxes image_axes(const Layout& layout) {
  ImageAxes axes;
  bool known = true;
  for (int i = 0; i < layout.ndim(); ++i) {
    int* axis = layout[i] == 'F'   ? &axes.frame
                : layout[i] == 'D' ? &axes.depth
                : layout[i] == 'H' ? &axes.height
                : layout[i] == 'W' ? &axes.width
                : layout[i] == 'C' ? &axes.channel
                                   : nullptr;
    if (axis == nullptr || *axis >= 0) {
      known = false;
    } else {
      *axis = i;
    }
  }
  if (!known || axes.height < 0 || axes.width < 0)
    throw std::invalid_argument(
        "the input's layout must have H and W, beside them only F, D and C, each once (got \"" +
        std::string(layout.c_str()) + "\"). Give the layout where the data enters the pipeline.");
  return axes;
}

// Elements between neighbours along each dimension of a dense tensor.
struct Strides {
  int64_t dims[kMaxDims] = {};
  int64_t operator[](int i) const { return dims[i]; }
};

inline Strides dense_strides(const Shape& shape) {
  Strides strides;
  int64_t stride = 1;
  for (int i = shape.ndim - 1; i >= 0; --i) {
    strides.dims[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

}  // namespace dali_core
