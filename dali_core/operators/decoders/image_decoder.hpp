// Decoding of one image file: header, region, colour, type and orientation, by whichever library
// suits. Operators hand over bytes and a sink; a region that the sink chooses is pushed into the
// codec, and the pixels are those of decoding everything and slicing.
//
//   struct Sink : ImageSink { ... };
//   decode_image(bytes, request, backends, sink);
#pragma once

#include "dali_core/operator.hpp"
#include "dali_core/operators/decoders/codec_library.hpp"
#include "dali_core/operators/decoders/image_types.hpp"

namespace dali_core {

// Which libraries decode: constant for an operator.
struct DecoderBackends {
  bool jpeg_by_libjpeg = true;
  CodecLibraryPaths codec_library;

  DecoderBackends() = default;
  explicit DecoderBackends(const OperatorConfig& config);
};

// Reads output_type, dtype, adjust_orientation, use_fast_idct and scaled_decode.
ImageRequest make_image_request(const OperatorConfig& config);

// Decodes the region that `sink` chooses. Throws std::runtime_error if the bytes are not a sound
// image, and what `sink` throws. Any number of threads may decode at once.
void decode_image(const EncodedImage& encoded, const ImageRequest& request,
                  const DecoderBackends& backends, ImageSink& sink);

// Reads the header only.
ImageInfo peek_image(const EncodedImage& encoded, const DecoderBackends& backends);

}  // namespace dali_core
