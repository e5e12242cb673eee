#include "dali_core/kernels/jpeg/jpeg_rows.hpp"

#include <cstring>

#include "dali_core/kernels/jpeg/jpeg_rules.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace dali_core {
namespace {

// The factors of jpeg_rules.hpp in units of 1 / 65536, less a whole number, to fit in 16 bits.
constexpr int kRedBeyond1 = 91881 - 65536, kBlueBeyond2 = 116130 - 2 * 65536;
constexpr int kBlueOfGreen = -22554, kRedOfGreen = 65536 - 46802;

// Two samples that follow one another: even below 256.
inline void store_pair(uint16_t first, uint16_t second, uint8_t* out) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  const uint16_t both = static_cast<uint16_t>(first | second << 8);
#else
  const uint16_t both = static_cast<uint16_t>(first << 8 | second);
#endif
  std::memcpy(out, &both, sizeof both);
}

}  // namespace
}  // namespace dali_core

#define DC_SIMD_SOURCE "dali_core/kernels/jpeg/jpeg_rows.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

void widen_row(const uint8_t* in, int64_t count, uint8_t* out) {
  DC_SIMD_DISPATCH(widen, in, count, out);
}

void widen_rows(const uint8_t* near_row, const uint8_t* far_row, int64_t count, uint8_t* out) {
  DC_SIMD_DISPATCH(widen_both, near_row, far_row, count, out);
}

void blend_rows(const uint8_t* near_row, const uint8_t* far_row, int64_t count, bool is_upper,
                uint8_t* out) {
  DC_SIMD_DISPATCH(blend, near_row, far_row, count, is_upper ? 1 : 2, out);
}

void repeat_samples(const uint8_t* in, int64_t count, int times, uint8_t* out) {
  if (times == 2) return DC_SIMD_DISPATCH(repeat_twice, in, count, out);
  for (int64_t i = 0; i < count; ++i)
    for (int k = 0; k < times; ++k) *out++ = in[i];
}

void ycc_to_rgb_row(const uint8_t* const* planes, int64_t count, uint8_t* rgb) {
  DC_SIMD_DISPATCH(ycc_to_rgb<false>, planes, count, rgb);
}

void ycc_to_bgr_row(const uint8_t* const* planes, int64_t count, uint8_t* bgr) {
  DC_SIMD_DISPATCH(ycc_to_rgb<true>, planes, count, bgr);
}

void interleave_row(const uint8_t* const* planes, int num_planes, int64_t count, uint8_t* out) {
  if (num_planes == 3) return DC_SIMD_DISPATCH(join_pixels_of_3, planes, out, count);
  for (int64_t i = 0; i < count; ++i)
    for (int plane = 0; plane < num_planes; ++plane) *out++ = planes[plane][i];
}

void ycck_to_cmyk_row(const uint8_t* const* planes, int64_t count, uint8_t* cmyk) {
  // Ink is what light is not; clamping is the same on both sides.
  for (int64_t i = 0; i < count; ++i, cmyk += 4) {
    const int y = planes[0][i], cb = planes[1][i], cr = planes[2][i];
    cmyk[0] = static_cast<uint8_t>(255 - red_of(y, cb, cr));
    cmyk[1] = static_cast<uint8_t>(255 - green_of(y, cb, cr));
    cmyk[2] = static_cast<uint8_t>(255 - blue_of(y, cb, cr));
    cmyk[3] = planes[3][i];
  }
}

}  // namespace dali_core
