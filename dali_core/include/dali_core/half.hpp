// IEEE 754 binary16 <-> binary32, round to nearest even. Free of branches, so that loops over it
// vectorise, and equal to the conversion instructions of processors bit for bit, NaN included.
#pragma once

#include <cstdint>
#include <cstring>

#include "dali_core/data_type.hpp"
#include "dali_core/host_device.hpp"

namespace dali_core {

DC_HOST_DEV float to_float(Half half) {
  const int32_t sign = static_cast<int32_t>(half.bits & 0x8000u) << 16;
  const int32_t magnitude = half.bits & 0x7fff;
  // Subnormal halves are ordinary floats: mantissa * 2^-24 is exact.
  const float small = static_cast<float>(magnitude) * 5.9604644775390625e-08f;
  int32_t small_bits;
  std::memcpy(&small_bits, &small, sizeof small_bits);
  int32_t bits = (magnitude << 13) + (112 << 23);
  bits = magnitude < 0x0400 ? small_bits : bits;
  bits = magnitude >= 0x7c00 ? (magnitude << 13) | 0x7f800000 : bits;
  bits = magnitude > 0x7c00 ? bits | 0x00400000 : bits;
  bits |= sign;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

DC_HOST_DEV Half to_half(float value) {
  int32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const int32_t sign = (bits >> 16) & 0x8000;
  const int32_t magnitude = bits & 0x7fffffff;
  const int32_t normal = (magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  // Subnormal: adding 0.5 puts the half's last bit at the float's last bit, so the FPU rounds.
  float shifted;
  std::memcpy(&shifted, &magnitude, sizeof shifted);
  shifted += 0.5f;
  int32_t shifted_bits;
  std::memcpy(&shifted_bits, &shifted, sizeof shifted_bits);
  int32_t result = magnitude < 0x38800000 ? shifted_bits - 0x3f000000 : normal;
  result = magnitude >= 0x477ff000 ? 0x7c00 : result;                               // overflow
  result = magnitude > 0x7f800000 ? 0x7e00 | ((magnitude >> 13) & 0x3ff) : result;  // NaN
  return Half{static_cast<uint16_t>(sign | result)};
}

}  // namespace dali_core
