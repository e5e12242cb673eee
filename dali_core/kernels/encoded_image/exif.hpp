// The orientation in Exif data, in every form that Pillow takes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dali_core/kernels/encoded_image/image_types.hpp"

namespace dali_core {

// Of data in the form of a TIFF file, with or without "Exif\0\0" before them, or of a TIFF file.
// Offsets may point anywhere: what is not in the data has no orientation.
Orientation read_exif_orientation(const uint8_t* data, size_t size);

}  // namespace dali_core
