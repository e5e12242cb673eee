// Decoding of JPEG by libjpeg-turbo, reading no more of the file than a region needs.
#pragma once

#include "dali_core/operators/decoders/image_types.hpp"

namespace dali_core {

// A JPEG that libjpeg-turbo has no code for (lossless, 12 bits, ...); thrown before any output.
struct UnsupportedJpeg : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Whether this build contains libjpeg-turbo.
bool has_libjpeg();

void decode_jpeg(const EncodedImage& encoded, const ImageRequest& request, ImageSink& sink);

}  // namespace dali_core
