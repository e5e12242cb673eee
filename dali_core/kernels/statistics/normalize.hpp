// fn.normalize: the rules for one element and for one deviation, shared by host loops and device
// kernels.
#pragma once

#include <cmath>
#include <cstdint>

#include "dali_core/host_device.hpp"

namespace dali_core {

DC_HOST_DEV float normalized(float value, float mean, float multiplier, float shift) {
  return (value - mean) * multiplier + shift;
}

// What deviations from the mean are multiplied by. Those that have no variance vanish.
DC_HOST_DEV float multiplier_of(double variance, double epsilon, double scale) {
  const double square = variance + epsilon;
  return square > 0 || square != square ? static_cast<float>(scale / sqrt(square)) : 0.0f;
}

DC_HOST_DEV double variance_of(double squares, double count, double ddof) {
  return count > ddof ? squares / (count - ddof) : 0.0;
}

}  // namespace dali_core
