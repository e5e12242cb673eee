// Between what is shown and what is stored: regions and sizes of turned images.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "dali_core/kernels/encoded_image/image_types.hpp"

namespace dali_core {

// Where a region of the shown image lies in the stored image of `height` x `width`.
inline CropWindow to_stored_region(CropWindow region, int64_t height, int64_t width,
                                   const Orientation& orientation) {
  if (orientation.transpose) std::swap(height, width);  // now those of the shown image
  if (orientation.flip_y) region.y = height - region.y - region.height;
  if (orientation.flip_x) region.x = width - region.x - region.width;
  if (orientation.transpose) {
    std::swap(region.y, region.x);
    std::swap(region.height, region.width);
  }
  return region;
}

// Asks the sink for the wanted region, and gives its place in the stored image.
inline CropWindow choose_stored_region(ImageSink& sink, int64_t height, int64_t width,
                                       const Orientation& orientation) {
  const int64_t shown_height = orientation.transpose ? width : height;
  const int64_t shown_width = orientation.transpose ? height : width;
  const CropWindow region = sink.choose_region(shown_height, shown_width);
  if (region.y < 0 || region.x < 0 || region.height < 1 || region.width < 1 ||
      region.y > shown_height - region.height || region.x > shown_width - region.width)
    throw std::invalid_argument(
        "the region must lie inside the image of " + std::to_string(shown_height) + " x " +
        std::to_string(shown_width) + " (got " + std::to_string(region.height) + " x " +
        std::to_string(region.width) + " at row " + std::to_string(region.y) + ", column " +
        std::to_string(region.x) + "). Choose another one.");
  return to_stored_region(region, height, width, orientation);
}

// Asks the sink for memory for a stored part, which is shown turned.
inline void* allocate_result(ImageSink& sink, const CropWindow& stored_part,
                             const Orientation& orientation, int channels) {
  return orientation.transpose ? sink.allocate(stored_part.width, stored_part.height, channels)
                               : sink.allocate(stored_part.height, stored_part.width, channels);
}

}  // namespace dali_core
