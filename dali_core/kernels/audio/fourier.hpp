// Fourier transforms of real numbers, several at once: a vector register holds the same sample of
// as many signals, its lanes. So no step moves numbers between lanes, whatever the size, and every
// instruction set gives the same bits.
//
// Sizes are split into factors of at most 13, transformed in place by decimation in frequency
// (Cooley and Tukey, "An algorithm for the machine calculation of complex Fourier series", 1965);
// the order that this leaves is undone when results are read. An even size takes a complex
// transform of half of it. Where a prime factor is larger, the transform is a convolution
// (Bluestein, "A linear filtering approach to the computation of discrete Fourier transform",
// 1970), so that no size takes quadratic time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dali_core/kernels/audio/fourier_tables.hpp"

namespace dali_core {

// Most lanes of any instruction set.
constexpr int64_t kMostFourierLanes = 16;

// Of a size that memory for a few transforms is easily found for.
constexpr int64_t kMaxTransform = int64_t{1} << 28;

// Of one of the factors; what is even needs none.
const OddAngles& odd_angles(int factor);

// A complex transform of `points` points. Rows of lanes hold real and imaginary parts in turn.
struct ComplexTransform {
  explicit ComplexTransform(int64_t points);

  // Rows that a transform takes, beginning with those of its points.
  int64_t num_rows() const { return convolution ? 6 * convolution->points : 2 * points; }

  int64_t points;
  std::vector<int> factors;
  std::vector<float> twiddles;     // cosine and sine, in the order of use
  std::vector<int32_t> positions;  // of the row with a frequency's real part, after the transform
  // Bluestein's: a transform of a power of two, what points are multiplied by before and after, and
  // the transform of what they are convolved with, in the order that a transform leaves.
  std::unique_ptr<const ComplexTransform> convolution;
  std::vector<float> chirp, filter;
};

// The spectrum of `size` real numbers, from frequency 0 to half the sampling rate.
struct RealTransform {
  explicit RealTransform(int64_t size);

  int64_t num_bins() const { return size / 2 + 1; }
  bool is_packed() const { return size % 2 == 0; }

  // Rows of working memory, which begin with the `size` rows of the signals; for an odd size with
  // `2 * size`, of which each second one is 0.
  int64_t num_rows() const { return complex.num_rows(); }

  int64_t size;
  ComplexTransform complex;
  std::vector<float> twiddles;  // for an even size
};

// The transform of one complex signal, in place, and in the order that decimation in frequency
// leaves; not of a size that is a convolution.
void transform_one(const ComplexTransform& transform, float* data);

}  // namespace dali_core
