// Parameters and arithmetic of the kernel `apply_mel_filters` for one sample.
#pragma once

#include <cstdint>

#include "dali_core/host_device.hpp"
#include "dali_core/quick_division.hpp"

namespace dali_core {

// The weights of neighbouring bins, from `begin` on in an array of all weights.
struct MelRange {
  int64_t first_bin;
  int64_t count;
  int64_t begin;
};

struct MelTask {
  const float* in;
  float* out;
  int64_t count;  // of numbers of the output
  int64_t num_bins;
  QuickDivisor filters;
  QuickDivisor inner;  // how far bins are apart
  const MelRange* ranges;
  const float* weights;
};

// The order of the sum is that of the host.
DC_HOST_DEV float filtered_bins(const MelTask& task, int64_t number) {
  const int64_t row = quotient(number, task.inner);
  const int64_t outer = quotient(row, task.filters);
  const MelRange range = task.ranges[row - outer * task.filters.divisor];
  const float* const bins = task.in +
                            (outer * task.num_bins + range.first_bin) * task.inner.divisor +
                            (number - row * task.inner.divisor);
  float sum = 0;
  for (int64_t i = 0; i < range.count; ++i)
    sum += task.weights[range.begin + i] * bins[i * task.inner.divisor];
  return sum;
}

}  // namespace dali_core
