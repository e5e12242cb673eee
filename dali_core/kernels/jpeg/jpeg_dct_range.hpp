// The ranges that inverse transforms of JPEG blocks keep to.
#pragma once

#include <cstdint>

namespace dali_core {

// Where all rows but the first are zero, the library multiplies by 4 without saturation; within
// these bounds that makes no difference.
constexpr int kSafe = 8192;

constexpr int clamped(int32_t value, int least, int most) {
  return value < least ? least : value > most ? most : value;
}

constexpr int16_t wrapped(int32_t value) {
  return static_cast<int16_t>(static_cast<uint16_t>(value));
}

// What all samples of a block are that has a mean only.
constexpr int flat_sample(int value) { return clamped((value + 4) >> 3, -128, 127) + 128; }

}  // namespace dali_core
