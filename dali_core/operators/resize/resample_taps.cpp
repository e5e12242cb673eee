// Which input pixels make an output pixel, and with which weights.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "dali_core/resample.hpp"

namespace dali_core {

AxisTaps::AxisTaps(const ResampleAxis& axis)
    : mapping_{axis.begin, 1.0f, std::floor(std::min(axis.begin, axis.end))},
      filter_(axis.filter),
      stretch_(1),
      input_size_(axis.input_size),
      first_output_(axis.first_output),
      num_outputs_(axis.num_outputs >= 0 ? axis.num_outputs
                                         : std::max<int64_t>(axis.output_size - axis.first_output, 0)),
      reverse_(axis.reverse) {
  last_output_ = first_output_ + num_outputs_ - 1;
  source_begin_ = source_end_ = 0;
  window_ = num_taps_ = 1;
  if (num_outputs_ == 0 || input_size_ == 0) {
    num_outputs_ = 0;
    return;
  }
  mapping_.scale = (axis.end - axis.begin) / static_cast<float>(axis.output_size);
  const float step = std::fabs(mapping_.scale);
  const bool exact_hits = step == 1.0f && axis.begin == std::floor(axis.begin);
  // A Gaussian blurs even where input and output pixels coincide, the other filters do nothing.
  if (exact_hits && filter_ != ResampleFilter::kGaussian) filter_ = ResampleFilter::kNearest;
  if (filter_ != ResampleFilter::kNearest) {
    if (axis.antialias && step > 1) stretch_ = step;
    window_ = static_cast<int>(
        std::min(std::ceil(2 * filter_radius(filter_) * stretch_), 1e9));
    num_taps_ = static_cast<int>(std::min<int64_t>(window_, input_size_));
  }
  const int64_t one_end = start_of(first_output_);
  const int64_t other_end = start_of(last_output_);
  source_begin_ = std::min(one_end, other_end);
  source_end_ = std::max(one_end, other_end) + num_taps_;
}

int64_t AxisTaps::raw_start(float centre) const {
  const float relative =
      filter_ == ResampleFilter::kNearest
          ? std::floor(centre)
          : std::ceil(centre - static_cast<float>(filter_radius(filter_) * stretch_) - 0.5f);
  return static_cast<int64_t>(relative) + static_cast<int64_t>(mapping_.base);
}

int64_t AxisTaps::start_of(int64_t output) const {
  return std::clamp<int64_t>(raw_start(mapping_.centre(output)), 0, input_size_ - num_taps_);
}

template <ResampleFilter kFilter>
void AxisTaps::fill_for(int32_t* starts, float* weights) const {
  const double shrink = 1 / stretch_;
  for (int64_t i = 0; i < num_outputs_; ++i, weights += num_taps_) {
    const float centre = mapping_.centre(output_at(i));
    const int64_t raw = raw_start(centre);
    const int64_t start = std::clamp<int64_t>(raw, 0, input_size_ - num_taps_);
    starts[i] = static_cast<int32_t>(start);
    const double first = static_cast<double>(raw) - mapping_.base + 0.5 - centre;
    double sum = 0;
    if (raw == start && num_taps_ == window_) {
      for (int k = 0; k < window_; ++k) {
        const double weight = filter_weight(kFilter, (first + k) * shrink);
        weights[k] = static_cast<float>(weight);
        sum += weight;
      }
    } else {
      std::fill_n(weights, num_taps_, 0.0f);
      for (int k = 0; k < window_; ++k) {
        const double weight = filter_weight(kFilter, (first + k) * shrink);
        // What falls outside the image goes to its edge pixel.
        const int64_t pixel = std::clamp<int64_t>(raw + k, 0, input_size_ - 1);
        weights[pixel - start] += static_cast<float>(weight);
        sum += weight;
      }
    }
    const float normalise = static_cast<float>(1 / sum);
    for (int k = 0; k < num_taps_; ++k) weights[k] *= normalise;
  }
}

void AxisTaps::fill(int32_t* starts, float* weights) const {
  switch (filter_) {
    case ResampleFilter::kNearest:
      for (int64_t i = 0; i < num_outputs_; ++i) {
        starts[i] = static_cast<int32_t>(start_of(output_at(i)));
        weights[i] = 1;
      }
      return;
    case ResampleFilter::kCubic:
      return fill_for<ResampleFilter::kCubic>(starts, weights);
    case ResampleFilter::kLanczos3:
      return fill_for<ResampleFilter::kLanczos3>(starts, weights);
    case ResampleFilter::kGaussian:
      return fill_for<ResampleFilter::kGaussian>(starts, weights);
    default:
      return fill_for<ResampleFilter::kLinear>(starts, weights);
  }
}

}  // namespace dali_core
