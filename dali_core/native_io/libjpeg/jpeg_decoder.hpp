// Decoding of JPEG by libjpeg-turbo, reading no more of the file than a region needs.
#pragma once

#include "dali_core/kernels/encoded_image/image_types.hpp"

namespace dali_core {

// Whether this build contains libjpeg-turbo.
bool has_libjpeg();

void decode_jpeg(const EncodedImage& encoded, const ImageRequest& request, ImageSink& sink);

}  // namespace dali_core
