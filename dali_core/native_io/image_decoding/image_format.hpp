// Detects the format of a file by its first bytes.
#pragma once

#include "dali_core/kernels/encoded_image/image_types.hpp"

namespace dali_core {

enum class ImageFormat : int8_t {
  kUnknown,
  kJpeg,
  kPng,
  kBmp,
  kTiff,
  kWebp,
  kPnm,
  kJpeg2000,  // in a JP2 container or without
};

ImageFormat format_of(const EncodedImage& encoded);

// The name of what begins in this way and is no image that is supported; empty if that is unknown.
const char* unsupported_kind(const EncodedImage& encoded);

}  // namespace dali_core
