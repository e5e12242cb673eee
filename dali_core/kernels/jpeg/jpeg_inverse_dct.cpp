// The accurate transform is that of Loeffler, Ligtenberg, Moschytz: "Practical fast 1-D DCT
// algorithms with 11 multiplications", ICASSP 1989. The fast one is that of Arai, Agui, Nakajima:
// "A fast DCT-SQ scheme for images", Transactions of the IEICE E71, 1988: most factors are part of
// the steps.
#include "dali_core/kernels/jpeg/jpeg_inverse_dct.hpp"

#include <algorithm>
#include <cstring>

#include "dali_core/kernels/jpeg/jpeg_dct_range.hpp"
#include "dali_core/kernels/jpeg/jpeg_rules.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace dali_core {
namespace {

// Of the fast transform, in units of 1 / 256: root of 2, and with cosines of pi / 8 and 3 pi / 8.
constexpr int kFastRoot2 = 362, kFastTwoCos2 = 473, kFastTwoCos2LessCos6 = 277,
              kFastTwoCos2AndCos6 = 669;
constexpr int kFastBits = 5;  // of its results behind the point

// One dimension. Sums that the library has in 16 bits wrap around as there.
void plain_pass(int16_t* v, int step, bool is_first) {
  const int shift = is_first ? kConstantBits - kPassBits : kConstantBits + kPassBits + 3;
  const int32_t x0 = v[0], x1 = v[step], x2 = v[2 * step], x3 = v[3 * step], x4 = v[4 * step],
                x5 = v[5 * step], x6 = v[6 * step], x7 = v[7 * step];
  const int64_t sum = int64_t{wrapped(x0 + x4)} * (1 << kConstantBits);
  const int64_t difference = int64_t{wrapped(x0 - x4)} * (1 << kConstantBits);
  const int64_t turned = int64_t{x2 + x6} * kCos6Root2;
  const int64_t low = turned - int64_t{x6} * kCos2AndCos6;
  const int64_t high = turned + int64_t{x2} * kCos2LessCos6;
  const int64_t even[4] = {sum + high, difference + low, difference - low, sum - high};
  const int64_t a = wrapped(x7 + x3), b = wrapped(x5 + x1);
  const int64_t z3 = a * (kCommon - kOuter2) + b * kCommon;
  const int64_t z4 = a * kCommon + b * (kCommon - kOuter3);
  const int64_t outer = -int64_t{x7 + x1} * kOuter0, inner = -int64_t{x5 + x3} * kOuter1;
  const int64_t odd[4] = {x1 * int64_t{kOdd3} + outer + z4, x3 * int64_t{kOdd2} + inner + z3,
                          x5 * int64_t{kOdd1} + inner + z4, x7 * int64_t{kOdd0} + outer + z3};
  const auto stored = [shift](int64_t value) {
    const auto rounded =
        static_cast<int32_t>(static_cast<uint32_t>(value + (int64_t{1} << (shift - 1))));
    return static_cast<int16_t>(clamped(rounded >> shift, -32768, 32767));
  };
  for (int i = 0; i < 4; ++i) {
    v[i * step] = stored(even[i] + odd[i]);
    v[(7 - i) * step] = stored(even[i] - odd[i]);
  }
}

}  // namespace

void scale_fast_steps(const uint16_t* quantization, int16_t* steps) {
  // Cosines of k pi / 16 times the root of 2, but for the first.
  constexpr double kScales[8] = {1.0, 1.387039845, 1.306562965, 1.175875602,
                                 1.0, 0.785694958, 0.541196100, 0.275899379};
  constexpr int kScaleBits = 14, kStepBits = 2;  // behind the point
  for (int i = 0; i < 64; ++i) {
    const double exact = kScales[i / 8] * kScales[i % 8] * (1 << kScaleBits);
    const auto factor = static_cast<int32_t>(exact + 0.5);
    steps[i] = wrapped(rounded_shift(quantization[i] * factor, kScaleBits - kStepBits));
  }
}

bool plain_inverse_dct_row(int16_t* blocks, uint8_t* counts, int64_t num_blocks,
                           const uint16_t* quantization, uint8_t* out, int64_t stride) {
  bool is_safe = true;
  for (int64_t block = 0; block < num_blocks; ++block, blocks += 64, out += 8) {
    int16_t v[64];
    for (int i = 0; i < 64; ++i)
      v[i] = static_cast<int16_t>(static_cast<uint32_t>(blocks[i]) * uint32_t{quantization[i]});
    for (int x = 0; x < 8; ++x) is_safe = is_safe && v[x] >= -kSafe && v[x] < kSafe;
    for (int x = 0; x < 8; ++x) plain_pass(v + x, 8, true);
    for (int y = 0; y < 8; ++y) plain_pass(v + 8 * y, 1, false);
    for (int i = 0; i < 64; ++i)
      out[i / 8 * stride + i % 8] = static_cast<uint8_t>(clamped(v[i], -128, 127) + 128);
    std::fill_n(blocks, 64, int16_t{0});
  }
  (void)counts;
  return is_safe;
}

}  // namespace dali_core

#if defined(__SSE2__)
#define DC_SIMD_SOURCE "dali_core/kernels/jpeg/jpeg_inverse_dct.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

bool inverse_dct_row(int16_t* blocks, uint8_t* counts, int64_t num_blocks,
                     const uint16_t* quantization, uint8_t* out, int64_t stride) {
  return DC_SIMD_DISPATCH(transform_row, blocks, counts, num_blocks, quantization, out, stride);
}

bool fast_inverse_dct_row(int16_t* blocks, int64_t num_blocks, const int16_t* steps, uint8_t* out,
                          int64_t stride) {
  DC_SIMD_DISPATCH(fast_transform_row, blocks, num_blocks, steps, out, stride);
  return true;
}

}  // namespace dali_core
#else
namespace dali_core {

bool fast_inverse_dct_row(int16_t*, int64_t, const int16_t*, uint8_t*, int64_t) { return false; }

bool inverse_dct_row(int16_t* blocks, uint8_t* counts, int64_t num_blocks,
                     const uint16_t* quantization, uint8_t* out, int64_t stride) {
  return plain_inverse_dct_row(blocks, counts, num_blocks, quantization, out, stride);
}

}  // namespace dali_core
#endif
