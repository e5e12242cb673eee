// fn.jpeg_compression_distortion: the arithmetic of JPEG that loses something.
//
// ITU-T T.81 (JPEG) and T.871 (JFIF) leave the arithmetic open; these rules give the results of the
// accurate integer method of libjpeg and libjpeg-turbo. The transform is that of Loeffler,
// Ligtenberg, Moschytz: "Practical fast 1-D DCT algorithms with 11 multiplications", ICASSP 1989,
// with constants of 13 bits and 2 more bits between the two passes.
#pragma once

#include <cstdint>

#include "dali_core/host_device.hpp"

namespace dali_core {

constexpr int kBlock = 8;

// The rotations of the transform, in units of 1 / 8192.
constexpr int32_t kConstantBits = 13;
constexpr int32_t kPassBits = 2;
constexpr int32_t kCos6Root2 = 4433;                // 0.541196100
constexpr int32_t kCos2LessCos6 = 6270;             // 0.765366865
constexpr int32_t kCos2AndCos6 = 15137;             // 1.847759065
constexpr int32_t kOdd0 = 2446, kOdd1 = 16819;      // 0.298631336, 2.053119869
constexpr int32_t kOdd2 = 25172, kOdd3 = 12299;     // 3.072711026, 1.501321110
constexpr int32_t kOuter0 = 7373, kOuter1 = 20995;  // 0.899976223, 2.562915447
constexpr int32_t kOuter2 = 16069, kOuter3 = 3196;  // 1.961570560, 0.390180644
constexpr int32_t kCommon = 9633;                   // 1.175875602

DC_HOST_DEV int32_t rounded_shift(int32_t value, int bits) {
  return (value + (1 << (bits - 1))) >> bits;
}

// The four odd frequencies and what they are made of are turned by the same matrix both ways.
struct OddPart {
  int32_t values[4];
};

DC_HOST_DEV OddPart turn_odd(int32_t a, int32_t b, int32_t c, int32_t d) {
  const int32_t common = (a + c + b + d) * kCommon;
  const int32_t ac = (a + c) * -kOuter2 + common;
  const int32_t bd = (b + d) * -kOuter3 + common;
  const int32_t ad = (a + d) * -kOuter0;
  const int32_t bc = (b + c) * -kOuter1;
  return {{a * kOdd0 + ad + ac, b * kOdd1 + bc + bd, c * kOdd2 + bc + ac, d * kOdd3 + ad + bd}};
}

// One dimension of the forward transform, in place. `is_first` of the two passes keeps more bits.
DC_HOST_DEV void forward_dct(int32_t* v, bool is_first) {
  const int32_t sum0 = v[0] + v[7], difference0 = v[0] - v[7];
  const int32_t sum1 = v[1] + v[6], difference1 = v[1] - v[6];
  const int32_t sum2 = v[2] + v[5], difference2 = v[2] - v[5];
  const int32_t sum3 = v[3] + v[4], difference3 = v[3] - v[4];
  const int32_t even0 = sum0 + sum3, even3 = sum0 - sum3;
  const int32_t even1 = sum1 + sum2, even2 = sum1 - sum2;
  const int bits = is_first ? kConstantBits - kPassBits : kConstantBits + kPassBits;
  v[0] = is_first ? (even0 + even1) * (1 << kPassBits) : rounded_shift(even0 + even1, kPassBits);
  v[4] = is_first ? (even0 - even1) * (1 << kPassBits) : rounded_shift(even0 - even1, kPassBits);
  const int32_t turned = (even2 + even3) * kCos6Root2;
  v[2] = rounded_shift(turned + even3 * kCos2LessCos6, bits);
  v[6] = rounded_shift(turned - even2 * kCos2AndCos6, bits);
  const OddPart odd = turn_odd(difference3, difference2, difference1, difference0);
  v[7] = rounded_shift(odd.values[0], bits);
  v[5] = rounded_shift(odd.values[1], bits);
  v[3] = rounded_shift(odd.values[2], bits);
  v[1] = rounded_shift(odd.values[3], bits);
}

// One dimension of the inverse transform, in place.
DC_HOST_DEV void inverse_dct(int32_t* v, bool is_first) {
  const int bits = is_first ? kConstantBits - kPassBits : kConstantBits + kPassBits + 3;
  const int32_t turned = (v[2] + v[6]) * kCos6Root2;
  const int32_t low = turned - v[6] * kCos2AndCos6;
  const int32_t high = turned + v[2] * kCos2LessCos6;
  const int32_t sum = (v[0] + v[4]) * (1 << kConstantBits);
  const int32_t difference = (v[0] - v[4]) * (1 << kConstantBits);
  const int32_t even[4] = {sum + high, difference + low, difference - low, sum - high};
  const OddPart odd = turn_odd(v[7], v[5], v[3], v[1]);
  for (int i = 0; i < 4; ++i) {
    v[i] = rounded_shift(even[i] + odd.values[3 - i], bits);
    v[7 - i] = rounded_shift(even[i] - odd.values[3 - i], bits);
  }
}

// Rounds half away from zero. Coefficients are 8 times as large as in the standard.
DC_HOST_DEV int32_t quantized(int32_t coefficient, int32_t divisor) {
  const int32_t magnitude = coefficient < 0 ? -coefficient : coefficient;
  // Below 2^17, the quotient of floats is never rounded across an integer.
  const auto quotient = static_cast<int32_t>(static_cast<float>(magnitude + divisor / 2) /
                                             static_cast<float>(divisor));
  return coefficient < 0 ? -quotient : quotient;
}

DC_HOST_DEV int32_t byte_of(int32_t value) { return value < 0 ? 0 : value > 255 ? 255 : value; }

// Constants of the colour transform, in units of 1 / 65536.
DC_HOST_DEV int32_t luma(int32_t red, int32_t green, int32_t blue) {
  return (19595 * red + 38470 * green + 7471 * blue + 32768) >> 16;
}
DC_HOST_DEV int32_t blue_difference(int32_t red, int32_t green, int32_t blue) {
  return (-11059 * red - 21709 * green + 32768 * blue + (128 << 16) + 32767) >> 16;
}
DC_HOST_DEV int32_t red_difference(int32_t red, int32_t green, int32_t blue) {
  return (32768 * red - 27439 * green - 5329 * blue + (128 << 16) + 32767) >> 16;
}
DC_HOST_DEV int32_t red_of(int32_t y, int32_t, int32_t cr) {
  return byte_of(y + ((91881 * (cr - 128) + 32768) >> 16));
}
DC_HOST_DEV int32_t green_of(int32_t y, int32_t cb, int32_t cr) {
  return byte_of(y + ((-22554 * (cb - 128) - 46802 * (cr - 128) + 32768) >> 16));
}
DC_HOST_DEV int32_t blue_of(int32_t y, int32_t cb, int32_t) {
  return byte_of(y + ((116130 * (cb - 128) + 32768) >> 16));
}

}  // namespace dali_core
