// fn.laplacian: windows of smoothing and of the second derivative (host loops and device kernels
// share this).
#pragma once

#include <cstdint>

#include "dali_core/host_device.hpp"

namespace dali_core {

constexpr int kLargestLaplacianWindow = 31;

// The binomial coefficient "size - 1 over place", 0 outside. Exact for the sizes there are.
DC_HOST_DEV double smoothing_weight(int place, int size) {
  if (place < 0 || place >= size) return 0;
  double weight = 1;
  for (int i = 0; i < place; ++i) weight = weight * (size - 1 - i) / (i + 1);
  return weight;
}

// Of the window "1 -2 1", convolved with a smoothing window up to the size.
DC_HOST_DEV double derivative_weight(int place, int size) {
  return smoothing_weight(place, size - 2) - 2 * smoothing_weight(place - 1, size - 2) +
         smoothing_weight(place - 2, size - 2);
}

}  // namespace dali_core
