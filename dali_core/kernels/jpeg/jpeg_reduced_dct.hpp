// From the coefficients of JPEG blocks to fewer samples: the means of 2 x 2, 4 x 4 or all samples
// that the accurate method would give, with the results of libjpeg-turbo bit for bit.
#pragma once

#include <cstdint>

namespace dali_core {

// Of the transform, in units of 1 / 8192: the root of 2 times sums of cosines of k pi / 16.
namespace reduced_dct {
// Two neighbouring samples, the outer ones of each half and the inner ones, by frequency.
constexpr int kOuterOf1 = 20995, kOuterOf3 = 7373, kOuterOf5 = -4926, kOuterOf7 = -4176;
constexpr int kInnerOf1 = 8697, kInnerOf3 = -17799, kInnerOf5 = 11893, kInnerOf7 = -1730;
constexpr int kEvenOf2 = 15137, kEvenOf6 = -6270;
// Four samples, which the even frequencies have no part in.
constexpr int kHalfOf1 = 29692, kHalfOf3 = -10426, kHalfOf5 = 6967, kHalfOf7 = -5906;
}  // namespace reduced_dct

// Like inverse_dct_row, but blocks become `side` x `side` samples: 4, 2 or 1. Of the spare block,
// as many are written in each row.
bool reduced_inverse_dct_row(int side, int16_t* blocks, const uint8_t* counts, int64_t num_blocks,
                             const uint16_t* quantization, uint8_t* out, int64_t stride);

// The same, a block at a time in plain arithmetic: for processors without a version of their own,
// and for tests.
bool plain_reduced_inverse_dct_row(int side, int16_t* blocks, const uint8_t* counts,
                                   int64_t num_blocks, const uint16_t* quantization, uint8_t* out,
                                   int64_t stride);

}  // namespace dali_core
