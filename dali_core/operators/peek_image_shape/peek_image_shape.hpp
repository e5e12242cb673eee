// fn.peek_image_shape: from what a header says to the shape of the decoded image.
#pragma once

#include <array>
#include <utility>

#include "dali_core/operators/decoders/image_types.hpp"

namespace dali_core {

// Height, width and channels, as decoding gives them.
inline std::array<int64_t, 3> decoded_shape(const ImageInfo& info, ImageType type,
                                            bool adjust_orientation) {
  std::array<int64_t, 3> shape = {info.height, info.width, 3};
  if (adjust_orientation && info.orientation.transpose) std::swap(shape[0], shape[1]);
  if (type == ImageType::kGray) {
    shape[2] = 1;
  } else if (type == ImageType::kAnyData) {
    // The four components of a JPEG are inks, which become RGB.
    const bool has_inks = info.format == "jpeg" && info.channels == 4;
    shape[2] = has_inks ? 3 : info.channels;
  }
  return shape;
}

}  // namespace dali_core
