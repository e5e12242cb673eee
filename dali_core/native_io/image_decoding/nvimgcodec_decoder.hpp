// Decoding by nvImageCodec's host codecs: every format but JPEG, and what our own decoder of JPEG
// leaves where libjpeg-turbo is not there.
#pragma once

#include "dali_core/kernels/encoded_image/image_types.hpp"
#include "dali_core/native_io/image_decoding/codec_library.hpp"

namespace dali_core {

void decode_with_nvimgcodec(const EncodedImage& encoded, const ImageRequest& request,
                            const CodecLibraryPaths& paths, ImageSink& sink);

ImageInfo peek_with_nvimgcodec(const EncodedImage& encoded, const CodecLibraryPaths& paths);

}  // namespace dali_core
