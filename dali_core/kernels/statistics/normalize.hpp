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

// Squared differences of the elements of a batch from a number, of which there are `count`, with
// the batch's own mean and squared deviations.
DC_HOST_DEV double batch_squares(double count, double mean, double squares, double from) {
  const double difference = mean - from;
  return squares + count * difference * difference;
}

// Puts entry `i` of the statistics of samples together, in their order, in the way of Chan, Golub
// and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979.
// Each part has rows of `size` numbers: of elements, means, and sums of squared deviations.
DC_HOST_DEV void join_statistics_of(const double* const* parts, int64_t num_parts, int64_t size,
                                    int64_t i, double* out) {
  double count = 0, sum = 0, squares = 0;
  for (int64_t k = 0; k < num_parts; ++k) {
    count += parts[k][i];
    sum += parts[k][i] * parts[k][size + i];
  }
  const double mean = sum / (count > 1.0 ? count : 1.0);
  for (int64_t k = 0; k < num_parts; ++k)
    squares += batch_squares(parts[k][i], parts[k][size + i], parts[k][2 * size + i], mean);
  out[i] = count;
  out[size + i] = mean;
  out[2 * size + i] = squares;
}

}  // namespace dali_core
