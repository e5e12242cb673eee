// From the coefficients of JPEG blocks to samples: the accurate and the fast integer method of
// libjpeg-turbo, with its results bit for bit.
#pragma once

#include <cstdint>

namespace dali_core {

// Dequantises and transforms a row of blocks, which it clears. Block `i` becomes the 8 x 8 samples
// from `out` + 8 * i, whose rows are `stride` bytes apart. `counts` says how many coefficients, in
// the order of the file, a block may have. Both have one more entry, of a block that is all zero,
// and 8 more samples are written in each row.
//
// False if coefficients are so large that the library's result is not what arithmetic says.
bool inverse_dct_row(int16_t* blocks, uint8_t* counts, int64_t num_blocks,
                     const uint16_t* quantization, uint8_t* out, int64_t stride);

// The steps of a row of the fast method.
void scale_fast_steps(const uint16_t* quantization, int16_t* steps);

// The same by the fast method, from its steps. False on processors without a version of their own,
// whose results would be those of the library's plain arithmetic.
bool fast_inverse_dct_row(int16_t* blocks, int64_t num_blocks, const int16_t* steps, uint8_t* out,
                          int64_t stride);

// The accurate method, a block at a time in plain arithmetic: for processors without a version of
// their own, and for tests.
bool plain_inverse_dct_row(int16_t* blocks, uint8_t* counts, int64_t num_blocks,
                           const uint16_t* quantization, uint8_t* out, int64_t stride);

}  // namespace dali_core
