// From rows of JPEG components to rows of pixels: interpolated chroma and conversion of colours,
// with the results of libjpeg-turbo bit for bit.
#pragma once

#include <cstdint>

namespace dali_core {

// Interpolation of rows of `count` samples. Those next to the first and the last one are read.

// Twice as many columns: three quarters of the nearer sample and one of the other.
void widen_row(const uint8_t* in, int64_t count, uint8_t* out);
// The same in both directions: `near` is the nearer row.
void widen_rows(const uint8_t* near_row, const uint8_t* far_row, int64_t count, uint8_t* out);
// Of rows only; `is_upper` of the two rows that are made of one.
void blend_rows(const uint8_t* near_row, const uint8_t* far_row, int64_t count, bool is_upper,
                uint8_t* out);
// Each sample `times` times.
void repeat_samples(const uint8_t* in, int64_t count, int times, uint8_t* out);

// Conversion of rows of `count` pixels to interleaved ones.

void ycc_to_rgb_row(const uint8_t* const* planes, int64_t count, uint8_t* rgb);
void ycc_to_bgr_row(const uint8_t* const* planes, int64_t count, uint8_t* bgr);
// Interleaves any number of planes.
void interleave_row(const uint8_t* const* planes, int num_planes, int64_t count, uint8_t* out);
void ycck_to_cmyk_row(const uint8_t* const* planes, int64_t count, uint8_t* cmyk);

}  // namespace dali_core
