// The amount of work that the scans of a JPEG file ask for, found without decoding: each scan of a
// progressive file visits every block of its components, and may do so for next to no bytes.
#pragma once

#include "dali_core/kernels/encoded_image/image_types.hpp"

namespace dali_core {

struct JpegCost {
  int64_t height = 0;
  int64_t width = 0;
  int64_t scans = 0;            // counted until they are too many
  int64_t blocks = 0;           // of 8 x 8 coefficients, in all components
  int64_t visits = 0;           // of blocks, by these scans
  int64_t most_visits = 0;      // that are reasonable for so many blocks and bytes
  bool has_least_bytes = true;  // whether the file may be long enough for its blocks
};

// Zeros if the file has no sound frame header, which its decoder then complains about.
JpegCost jpeg_cost(const EncodedImage& encoded);

// Throws std::runtime_error if the file is too short for its pixels, or asks for unreasonable work.
// Comes before any decoder.
void check_jpeg_cost(const EncodedImage& encoded);

}  // namespace dali_core
