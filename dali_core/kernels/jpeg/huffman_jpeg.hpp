// Decoding of JPEG by code of our own: sequential and progressive files of 8-bit samples in Huffman
// codes, which is what data sets hold. Pixels are those of libjpeg-turbo, bit for bit. Whatever
// else a file is, or has that a sound one does not, is left to the libraries, so errors and
// repaired damage are theirs.
#pragma once

#include "dali_core/kernels/encoded_image/image_types.hpp"
#include "dali_core/kernels/image_chain/plane_sink.hpp"
#include "dali_core/kernels/jpeg/scan_index.hpp"

namespace dali_core {

// False if the image is left to a library; `sink` may then have been asked for a region and for
// memory. `indexes`, if any, are used and added to; they change how long it takes and nothing else.
bool decode_huffman_jpeg(const EncodedImage& encoded, const ImageRequest& request, ImageSink& sink,
                         ScanIndexes* indexes = nullptr);

// The same for a file whose planes are resampled before colours are converted, if it has luma and
// two of chroma, is not turned, and pixels of three colours are requested. False also if the sink
// has to have pixels.
bool decode_huffman_jpeg_planes(const EncodedImage& encoded, const ImageRequest& request,
                                ImageSink& sink, PlaneSink& planes, ScanIndexes* indexes = nullptr);

}  // namespace dali_core
