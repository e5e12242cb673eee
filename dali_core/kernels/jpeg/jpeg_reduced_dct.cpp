// A sum of neighbouring samples of the transform of Loeffler, Ligtenberg, Moschytz (see
// jpeg_inverse_dct.cpp) is a sum of products, too. Frequencies that have no part in it are left
// out, in both dimensions.
#include "dali_core/kernels/jpeg/jpeg_reduced_dct.hpp"

#include <algorithm>
#include <cstring>

#include "dali_core/kernels/jpeg/jpeg_dct_range.hpp"
#include "dali_core/kernels/jpeg/jpeg_rules.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace dali_core {
namespace {

using namespace reduced_dct;

// The library's table of results has those of means from -512 on and below this, and wraps around.
constexpr int kSafeMean = 512;

// Of means of `side` samples; those of the second pass are 8 times as large.
constexpr int shift_of(int side, bool is_first) {
  const int summed = side == 4 ? 1 : 2;
  return kConstantBits + summed + (is_first ? -kPassBits : kPassBits + 3);
}

// One dimension: eight values, `step` apart, become `side`, saturated to 16 bits. False if one was.
bool plain_pass(int16_t* v, int step, int side, bool is_first) {
  const int shift = shift_of(side, is_first);
  const auto sum = [v, step](int f1, int f3, int f5, int f7) {
    return int64_t{v[step]} * f1 + int64_t{v[3 * step]} * f3 + int64_t{v[5 * step]} * f5 +
           int64_t{v[7 * step]} * f7;
  };
  bool fits = true;
  // Sums are of 32 bits, and wrap around.
  const auto stored = [shift, &fits](int64_t value) {
    const auto rounded =
        static_cast<int32_t>(static_cast<uint32_t>(value + (int64_t{1} << (shift - 1))));
    const int32_t result = rounded >> shift;
    fits = fits && result == static_cast<int16_t>(result);
    return static_cast<int16_t>(clamped(result, -32768, 32767));
  };
  const int64_t mean = int64_t{v[0]} * (1 << (kConstantBits + (side == 4 ? 1 : 2)));
  if (side == 2) {
    const int64_t odd = sum(kHalfOf1, kHalfOf3, kHalfOf5, kHalfOf7);
    v[0] = stored(mean + odd);
    v[step] = stored(mean - odd);
    return fits;
  }
  const int64_t even = int64_t{v[2 * step]} * kEvenOf2 + int64_t{v[6 * step]} * kEvenOf6;
  const int64_t outer = sum(kOuterOf1, kOuterOf3, kOuterOf5, kOuterOf7);
  const int64_t inner = sum(kInnerOf1, kInnerOf3, kInnerOf5, kInnerOf7);
  v[0] = stored(mean + even + outer);
  v[step] = stored(mean - even + inner);
  v[2 * step] = stored(mean - even - inner);
  v[3 * step] = stored(mean + even - outer);
  return fits;
}

// Blocks become their means.
bool means_of_row(int16_t* blocks, const uint8_t* counts, int64_t num_blocks, int step,
                  uint8_t* out) {
  bool is_safe = true;
  for (int64_t block = 0; block < num_blocks; ++block, blocks += 64) {
    const int32_t value = blocks[0] * static_cast<int16_t>(step);
    const int32_t mean = (value + 4) >> 3;
    is_safe = is_safe && mean >= -kSafeMean && mean < kSafeMean;
    out[block] = static_cast<uint8_t>(flat_sample(value));
    if (counts[block] <= 1)
      blocks[0] = 0;
    else
      std::memset(blocks, 0, 64 * sizeof(int16_t));
  }
  return is_safe;
}

}  // namespace

bool plain_reduced_inverse_dct_row(int side, int16_t* blocks, const uint8_t* counts,
                                   int64_t num_blocks, const uint16_t* quantization, uint8_t* out,
                                   int64_t stride) {
  if (side == 1) return means_of_row(blocks, counts, num_blocks, quantization[0], out);
  bool is_safe = true;
  for (int64_t block = 0; block < num_blocks; ++block, blocks += 64, out += side) {
    int16_t v[64];
    for (int i = 0; i < 64; ++i)
      v[i] = wrapped(static_cast<int32_t>(static_cast<uint32_t>(blocks[i]) * quantization[i]));
    for (int x = 0; x < 8; ++x) is_safe = is_safe && v[x] >= -kSafe && v[x] < kSafe;
    for (int x = 0; x < 8; ++x) {
      const bool fits = plain_pass(v + x, 8, side, true);
      // The library keeps 32 bits of the means that two samples begin with.
      is_safe = is_safe && (fits || side == 4 || x > 0);
    }
    for (int y = 0; y < side; ++y) plain_pass(v + 8 * y, 1, side, false);
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x)
        out[y * stride + x] = static_cast<uint8_t>(clamped(v[8 * y + x], -128, 127) + 128);
    std::fill_n(blocks, 64, int16_t{0});
  }
  return is_safe;
}

}  // namespace dali_core

#if defined(__SSE2__)
#define DC_SIMD_SOURCE "dali_core/kernels/jpeg/jpeg_reduced_dct.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

bool reduced_inverse_dct_row(int side, int16_t* blocks, const uint8_t* counts, int64_t num_blocks,
                             const uint16_t* quantization, uint8_t* out, int64_t stride) {
  if (side == 1) return means_of_row(blocks, counts, num_blocks, quantization[0], out);
  if (side == 2)
    return DC_SIMD_DISPATCH(reduce_row<2>, blocks, counts, num_blocks, quantization, out, stride);
  return DC_SIMD_DISPATCH(reduce_row<4>, blocks, counts, num_blocks, quantization, out, stride);
}

}  // namespace dali_core
#else
namespace dali_core {

bool reduced_inverse_dct_row(int side, int16_t* blocks, const uint8_t* counts, int64_t num_blocks,
                             const uint16_t* quantization, uint8_t* out, int64_t stride) {
  return plain_reduced_inverse_dct_row(side, blocks, counts, num_blocks, quantization, out, stride);
}

}  // namespace dali_core
#endif
