// Resampling of a signal by a windowed sinc, which interpolates: it has no low-pass filter for
// lower rates, as the reference has none.
#pragma once

#include <cstdint>
#include <vector>

namespace dali_core {

// Input samples for each output sample: `in / out`.
struct RateRatio {
  double in, out;

  // Of what `length` input samples become.
  int64_t output_length(int64_t length) const;
};

// sin(pi x) / (pi x) times a window of Hann, which ends a 64th of a sample after the last lobe. It
// is interpolated linearly between 32 points for each sample, which is an error of up to 0.0005.
// More points would be as fast, but programs get the numbers that the reference gives them.
class SincFilter {
 public:
  explicit SincFilter(double quality);  // from 0 to 100: 3, 16 and 64 lobes at 0, 50 and 100

  int64_t lobes() const { return lobes_; }

  // Weight of a sample at a distance of `x` samples.
  float at(double x) const;

  // Samples on each side of a signal that `resample` reads, and which are 0.
  int64_t margin() const { return lobes_ + 32; }

  // Weights that are computed for an output sample.
  int64_t num_taps() const { return (2 * lobes_ + 1 + 15) / 16 * 16; }

 private:
  int64_t lobes_;
  std::vector<float> table_;
};

// `signal` is followed and preceded by the filter's margin. Output `i` goes to `out[i * step]`.
void resample(const SincFilter& filter, RateRatio ratio, const float* signal, int64_t out_length,
              float* out, int64_t step);

}  // namespace dali_core
