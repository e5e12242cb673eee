// The few facts of a JPEG file that are needed before its decoder runs.
#pragma once

#include <optional>

#include "dali_core/kernels/jpeg/jpeg_segments.hpp"

namespace dali_core {

struct JpegHeader {
  JpegFrame frame;
  Orientation orientation;
  size_t size = 0;  // bytes up to the end of the frame header
};

bool looks_like_jpeg(const EncodedImage& encoded);

// Reads the segments up to the first scan; nothing if there is no frame header among them.
std::optional<JpegHeader> read_jpeg_header(const EncodedImage& encoded);

// Whether an end-of-image marker follows somewhere at or after `position`.
bool has_end_of_jpeg(const EncodedImage& encoded, size_t position);

}  // namespace dali_core
