// Decoding by nvImageCodec's host codecs: every format but JPEG, and JPEG where libjpeg-turbo is
// not there.
#pragma once

#include "dali_core/operators/decoders/codec_library.hpp"
#include "dali_core/operators/decoders/image_types.hpp"

namespace dali_core {

void decode_with_nvimgcodec(const EncodedImage& encoded, const ImageRequest& request,
                            const CodecLibraryPaths& paths, ImageSink& sink);

ImageInfo peek_with_nvimgcodec(const EncodedImage& encoded, const CodecLibraryPaths& paths);

}  // namespace dali_core
