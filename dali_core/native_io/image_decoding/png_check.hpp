// Checks a PNG file's structure before a decoder sees it: the decoder prints what it dislikes to
// standard error, and we report it.
#pragma once

#include "dali_core/kernels/encoded_image/image_types.hpp"

namespace dali_core {

bool looks_like_png(const EncodedImage& encoded);

// Throws std::runtime_error if a chunk that decoding needs is cut off or has a wrong checksum, or
// if those that it does not need cost unreasonable time.
void check_png(const EncodedImage& encoded);

}  // namespace dali_core
