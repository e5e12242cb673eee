// Decoding of one image file: header, region, colour, type and orientation, by our own code
// or whichever library suits. Operators hand over bytes and a sink; a region that the sink chooses
// is pushed into the codec, and the pixels are those of decoding everything and slicing.
//
//   struct Sink : ImageSink { ... };
//   decode_image(bytes, request, backends, sink);
#pragma once

#include <memory>

#include "dali_core/kernels/encoded_image/image_types.hpp"
#include "dali_core/kernels/jpeg/scan_index.hpp"
#include "dali_core/native_io/image_decoding/codec_library.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

// What decodes: constant for an operator.
struct DecoderBackends {
  bool jpeg_by_own = true;                    // what it can, before a library
  bool jpeg_by_library = true;                // what is left
  bool jpeg_by_libjpeg = true;                // which library
  std::shared_ptr<ScanIndexes> scan_indexes;  // of files that were decoded; null for none
  CodecLibraryPaths codec_library;

  DecoderBackends() = default;
  explicit DecoderBackends(const OperatorConfig& config);
};

// Reads output_type, dtype, adjust_orientation, use_fast_idct, scaled_decode and chroma.
ImageRequest make_image_request(const OperatorConfig& config);

// Decodes the region that `sink` chooses. Throws std::runtime_error if the bytes are not a sound
// image, and what `sink` throws. Any number of threads may decode at once.
void decode_image(const EncodedImage& encoded, const ImageRequest& request,
                  const DecoderBackends& backends, ImageSink& sink);

// Reads the header only.
ImageInfo peek_image(const EncodedImage& encoded, const DecoderBackends& backends);

}  // namespace dali_core
