// The CIE L*a*b* colour space in 8 bits: L from 0 to 255, a and b with 128 for grey.
#pragma once

#include <cstdint>

#include "dali_core/kernels/histogram/equalize.hpp"

namespace dali_core {

// Linear light has 2040 levels, roots are in units of 1 / 32768.
constexpr int kLinearLevels = 2040;
constexpr int kRootBits = 15;
constexpr int kGammaLevels = 4095;

struct LabTables {
  uint16_t linear[256];               // of a byte of sRGB
  uint16_t roots[kLinearLevels + 1];  // of linear light
  int32_t to_xyz[3][3];               // in units of 1 / 4096, for white of 1
  float lightness[256];               // Y of a byte of L
  float lightness_root[256];
  float a_root[256];  // what a and b add to that root
  float b_root[256];
  float from_xyz[3][3];
  uint8_t gamma[kGammaLevels + 1];  // byte of sRGB for linear light
};

// Made at the first call.
const LabTables& lab_tables();

struct LabBytes {
  uint8_t lightness, a, b;
};

DC_HOST_DEV uint8_t saturated_byte(int value) {
  return static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

DC_HOST_DEV LabBytes to_lab(const uint8_t* rgb, const LabTables& tables) {
  const int red = tables.linear[rgb[0]];
  const int green = tables.linear[rgb[1]];
  const int blue = tables.linear[rgb[2]];
  int roots[3];
  for (int i = 0; i < 3; ++i) {
    const int32_t* row = tables.to_xyz[i];
    roots[i] = tables.roots[(row[0] * red + row[1] * green + row[2] * blue + 2048) >> 12];
  }
  constexpr int kOne = 1 << kRootBits;
  constexpr int kHalf = kOne / 2;
  // L = 116 f(Y) - 16 in units of 100 / 255; 296 is 116 * 2.55, rounded.
  constexpr int kBlack = (16 * 255 * kOne + 50) / 100;
  return {saturated_byte((296 * roots[1] - kBlack + kHalf) >> kRootBits),
          saturated_byte((500 * (roots[0] - roots[1]) + 128 * kOne + kHalf) >> kRootBits),
          saturated_byte((200 * (roots[1] - roots[2]) + 128 * kOne + kHalf) >> kRootBits)};
}

// The inverse of the root that L*a*b* is made of.
DC_HOST_DEV float lab_cube(float root) {
  constexpr float kSlope = 1.0f / 7.787f;
  return root > 6.0f / 29.0f ? root * root * root : (root - 16.0f / 116.0f) * kSlope;
}

DC_HOST_DEV void from_lab(LabBytes lab, uint8_t* rgb, const LabTables& tables) {
  const float root = tables.lightness_root[lab.lightness];
  const float x = lab_cube(root + tables.a_root[lab.a]);
  const float y = tables.lightness[lab.lightness];
  const float z = lab_cube(root - tables.b_root[lab.b]);
  for (int i = 0; i < 3; ++i) {
    const float* row = tables.from_xyz[i];
    float light = row[0] * x + row[1] * y + row[2] * z;
    light = light < 0.0f ? 0.0f : light > 1.0f ? 1.0f : light;
    rgb[i] = tables.gamma[static_cast<int>(light * kGammaLevels + 0.5f)];
  }
}

}  // namespace dali_core
