// The orientation that an image file demands, as its own Exif data or tags say.
#pragma once

#include "dali_core/kernels/encoded_image/image_types.hpp"

namespace dali_core {

// Of JPEG, PNG, WebP and TIFF; of other formats, what their codec has found.
Orientation stored_orientation(const EncodedImage& encoded, const Orientation& of_codec);

}  // namespace dali_core
