// A Fourier transform as a device gets it: its factors in the order of use, and tables that the
// host has computed.
#pragma once

#include <cstdint>

#include "dali_core/quick_division.hpp"

namespace dali_core {

constexpr int kMostFactor = 13;

// Of a transform of an odd number of points: cosines and sines of its angles.
struct OddAngles {
  float cosine[kMostFactor], sine[kMostFactor];
};

// One factor: blocks of points become `factor` parts each.
struct FourierStage {
  int32_t factor;
  QuickDivisor part;         // points of a part
  QuickDivisor butterflies;  // of a transform
  int64_t first_twiddle;     // in the array of all
  OddAngles angles;
};

struct FourierTables {
  int64_t points;
  const FourierStage* stages;
  int64_t num_stages;
  const float* twiddles;
  const int32_t* positions;
};

}  // namespace dali_core
