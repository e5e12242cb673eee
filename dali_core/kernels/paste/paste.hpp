// Pasting regions of images on a canvas: what fn.paste and fn.multi_paste do with one image or one
// frame. Everything is counted in bytes, so elements may be of any type.
#pragma once

#include <cstdint>

#include "dali_core/host_device.hpp"
#include "dali_core/quick_division.hpp"

namespace dali_core {

// A region of an image and its place on the canvas.
struct PastedRegion {
  const void* image;
  int64_t image_bytes;
  int64_t offset;     // of the region's first byte in the image
  int64_t row_pitch;  // of the image
  int64_t top;        // rows of the canvas, from `top` to before `bottom`
  int64_t bottom;
  int64_t left;  // bytes of a row of the canvas, from `left` to before `right`
  int64_t right;

  DC_HOST_DEV const char* source(int64_t row, int64_t byte) const {
    return static_cast<const char*>(image) + offset + (row - top) * row_pitch + byte - left;
  }
};

// Colours of so few bytes are part of the task.
constexpr int64_t kShortColor = 4;

struct PasteTask {
  void* out;
  int64_t bytes;             // of the canvas
  QuickDivisor row_bytes;    // of the canvas
  QuickDivisor color_bytes;  // of what a row is filled with, again and again
  const uint8_t* color;      // if it is longer than kShortColor
  uint32_t repeated[5];      // the color as words, again and again, otherwise
  int num_regions;           // later ones cover earlier ones
  PastedRegion first;
  const PastedRegion* others;

  DC_HOST_DEV const PastedRegion& region(int number) const {
    return number == 0 ? first : others[number - 1];
  }
  DC_HOST_DEV uint8_t color_byte(int64_t place) const {
    const int64_t within = place - quotient(place, color_bytes) * color_bytes.divisor;
    return color_bytes.divisor <= kShortColor ? static_cast<uint8_t>(repeated[0] >> (8 * within))
                                              : color[within];
  }
};

}  // namespace dali_core
