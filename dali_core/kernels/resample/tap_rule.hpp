// The input pixels that make the outputs of an axis, and their weights: the same rule for the
// host's loops and the kernel.
#pragma once

#include <cmath>
#include <cstdint>

#include "dali_core/kernels/resample/resample_filter.hpp"
#include "dali_core/kernels/resample/resample_kernels.hpp"

namespace dali_core {

// Samples of a curved filter, from its centre outwards, and one behind its end.
DC_HOST_DEV constexpr int filter_table_size(ResampleFilter filter) {
  return (filter == ResampleFilter::kCubic      ? 2
          : filter == ResampleFilter::kLanczos3 ? 3
                                                : 1) *
             kFilterSamples +
         2;
}

// Filters without a table.
struct LinearFilter {
  DC_HOST_DEV double operator()(double x) const {
    return filter_value(ResampleFilter::kLinear, std::fabs(x));
  }
};

// A curved filter as straight lines between samples.
struct SampledFilter {
  const double* values;
  int last;  // the sample where the filter ends

  DC_HOST_DEV double operator()(double x) const {
    const double position = std::fabs(x) * kFilterSamples;
    if (!(position < last + 1)) return 0;
    const int i = static_cast<int>(position);
    return values[i] + (position - i) * (values[i + 1] - values[i]);
  }
};

// A filter without samples, as Pillow and PyTorch compute it.
struct ExactFilter {
  ResampleFilter filter;

  DC_HOST_DEV double operator()(double x) const { return filter_value(filter, std::fabs(x)); }
};

// Plain data of an axis.
struct TapRule {
  AxisMapping mapping;
  ResampleFilter filter;
  double stretch;   // how much wider the filter is made, 1 or the scale
  float first_tap;  // where the filter's window of output 0 begins
  int64_t input_size, first_output, last_output, num_outputs;
  int window;    // taps before clamping to the image
  int num_taps;  // taps after it
  bool running, reverse;
  bool exclude_outside;  // only what is inside counts, by the exact filter

  DC_HOST_DEV int64_t output_at(int64_t i) const {
    return reverse ? last_output - i : first_output + i;
  }

  DC_HOST_DEV int64_t raw_start(int64_t output) const {
    return static_cast<int64_t>(std::ceil(static_cast<float>(output) * mapping.scale + first_tap));
  }

  DC_HOST_DEV int64_t clamped(int64_t position, int64_t last) const {
    return position < 0 ? 0 : position > last ? last : position;
  }

  DC_HOST_DEV int64_t nearest(float centre) const {
    const float pixel = std::floor(centre) + mapping.base;
    return clamped(static_cast<int64_t>(pixel), input_size - 1);
  }

  // The first input pixel of an output.
  DC_HOST_DEV int64_t start_of(int64_t output) const {
    if (filter != ResampleFilter::kNearest)
      return clamped(raw_start(output), input_size - num_taps);
    if (!running) return nearest(mapping.centre(output));
    float centre = mapping.centre(0);
    for (int64_t i = 0; i < output; ++i) centre += mapping.scale;
    return nearest(centre);
  }

  // Sets weights[k * step] of the output at place `i`, for a filter other than the nearest pixel,
  // and returns its first input pixel.
  template <typename Filter>
  DC_HOST_DEV int64_t fill(int64_t i, const Filter& filter_weight, float* weights,
                           int64_t step) const {
    const double shrink = 1 / stretch;
    const int64_t output = output_at(i);
    const float centre = mapping.centre(output);
    const int64_t raw = raw_start(output);
    const int64_t start = clamped(raw, input_size - num_taps);
    const double first = static_cast<double>(raw) + 0.5 - centre;
    double sum = 0;
    if (raw == start && num_taps == window) {
      for (int k = 0; k < window; ++k) {
        const double weight = filter_weight((first + k) * shrink);
        weights[k * step] = static_cast<float>(weight);
        sum += weight;
      }
    } else {
      for (int k = 0; k < num_taps; ++k) weights[k * step] = 0;
      for (int k = 0; k < window; ++k) {
        const double weight = filter_weight((first + k) * shrink);
        // What falls outside the image goes to its edge pixel, or is dropped.
        const int64_t pixel = clamped(raw + k, input_size - 1);
        if (exclude_outside && pixel != raw + k) continue;
        weights[(pixel - start) * step] += static_cast<float>(weight);
        sum += weight;
      }
    }
    if (sum == 0) {
      // So far away that single precision does not tell neighbours apart.
      weights[(nearest(centre) - start) * step] = 1;
      sum = 1;
    }
    const float normalise = static_cast<float>(1 / sum);
    for (int k = 0; k < num_taps; ++k) weights[k * step] *= normalise;
    return start;
  }
};

// Rounds the weights of an output, which sum to 1, to 14 bits that sum to exactly 1.
DC_HOST_DEV void round_output_weights(const float* weights, int taps, int64_t step,
                                      int16_t* rounded) {
  constexpr int kOne = 1 << kResampleWeightBits;
  int sum = 0;
  int largest = 0;
  for (int k = 0; k < taps; ++k) {
    const int weight = static_cast<int>(std::lrint(weights[k * step] * kOne));
    rounded[k * step] = static_cast<int16_t>(weight < -32768  ? -32768
                                             : weight > 32767 ? 32767
                                                              : weight);
    sum += rounded[k * step];
    if (rounded[k * step] > rounded[largest * step]) largest = k;
  }
  // The largest weight takes what rounding lost, where it is felt least.
  rounded[largest * step] = static_cast<int16_t>(rounded[largest * step] + kOne - sum);
}

}  // namespace dali_core
