// Parameters that normalise one channel of a finished image: see FinishStep of image_chain.hpp.
#pragma once

#include <cstdint>

namespace dali_core {

// (value - mean) * multiplier, in float, and then in the output's type. The others are elements of
// that type.
struct FinishedChannel {
  float mean;
  float multiplier;
  uint64_t added;    // where the image has no such channel
  uint64_t outside;  // beside the image
};

}  // namespace dali_core
