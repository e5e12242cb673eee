// From the ink amounts of a four-component JPEG to RGB, and from RGB to grey as done for those.
#pragma once

#include <cstdint>

#include "dali_core/host_device.hpp"

namespace dali_core {

// Adobe's programs store 255 for no ink; files without their marker store 0.
DC_HOST_DEV void cmyk_to_rgb(const uint8_t* cmyk, bool no_ink_is_255, uint8_t* rgb) {
  const int flip = no_ink_is_255 ? 0 : 255;
  const int black = cmyk[3] ^ flip;
  for (int i = 0; i < 3; ++i) rgb[i] = static_cast<uint8_t>((cmyk[i] ^ flip) * black / 255);
}

// Truncates, unlike the luma of a JPEG with three components.
DC_HOST_DEV uint8_t rgb_to_truncated_grey(const uint8_t* rgb) {
  return static_cast<uint8_t>(0.299f * rgb[0] + 0.587f * rgb[1] + 0.114f * rgb[2]);
}

inline void rgb_row_to_truncated_grey(const uint8_t* rgb, int64_t width, uint8_t* grey) {
  for (int64_t x = 0; x < width; ++x) grey[x] = rgb_to_truncated_grey(rgb + 3 * x);
}

// Converts a row in place: the result has fewer channels.
inline void cmyk_row_to_rgb(uint8_t* row, int64_t width, bool no_ink_is_255) {
  for (int64_t x = 0; x < width; ++x) {
    uint8_t rgb[3];
    cmyk_to_rgb(row + 4 * x, no_ink_is_255, rgb);
    for (int i = 0; i < 3; ++i) row[3 * x + i] = rgb[i];
  }
}

}  // namespace dali_core
