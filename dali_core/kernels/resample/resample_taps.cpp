// Which input pixels make an output pixel, and with which weights.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "dali_core/kernels/resample/resample.hpp"

namespace dali_core {
namespace {

// A curved filter as straight lines between samples.
template <ResampleFilter kFilter>
class SampledFilter {
 public:
  SampledFilter() {
    for (int i = 0; i <= kLast; ++i)
      values_[i] = filter_value(kFilter, static_cast<double>(i) / kFilterSamples);
    values_[kLast + 1] = 0;  // a Gaussian does not end at 0: it falls to 0 over one more sample
  }

  double operator()(double x) const {
    const double position = std::fabs(x) * kFilterSamples;
    if (!(position < kLast + 1)) return 0;
    const int i = static_cast<int>(position);
    return values_[i] + (position - i) * (values_[i + 1] - values_[i]);
  }

 private:
  static constexpr int kLast = (kFilter == ResampleFilter::kCubic      ? 2
                                : kFilter == ResampleFilter::kLanczos3 ? 3
                                                                       : 1) *
                               kFilterSamples;
  double values_[kLast + 2];
};

template <ResampleFilter kFilter>
double filter_weight(double x) {
  if constexpr (kFilter == ResampleFilter::kLinear) {
    return filter_value(kFilter, std::fabs(x));
  } else {
    static const SampledFilter<kFilter> filter;
    return filter(x);
  }
}

}  // namespace

AxisTaps::AxisTaps(const ResampleAxis& axis)
    : mapping_{axis.begin, 1.0f, std::floor(std::min(axis.begin, axis.end))},
      filter_(axis.filter),
      stretch_(1),
      first_tap_(0),
      input_size_(axis.input_size),
      first_output_(axis.first_output),
      num_outputs_(axis.made()),
      running_(axis.running),
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
    mapping_.base = 0;
    if (axis.antialias && step > 1) stretch_ = step;
    // In single precision and through the number of samples, so that a tap exactly on the rim of a
    // Gaussian counts on the same side as in NVIDIA DALI.
    const float samples = static_cast<float>(filter_radius(filter_) * kFilterSamples);
    const float reach = samples / (kFilterSamples / static_cast<float>(stretch_));
    first_tap_ = mapping_.begin + 0.5f * mapping_.scale - 0.5f - reach +
                 std::numeric_limits<float>::epsilon();
    window_ = static_cast<int>(std::min(std::ceil(2 * reach), 1e9f));
    num_taps_ = static_cast<int>(std::min<int64_t>(window_, input_size_));
  }
  const int64_t one_end = start_of(first_output_);
  const int64_t other_end = start_of(last_output_);
  source_begin_ = std::min(one_end, other_end);
  source_end_ = std::max(one_end, other_end) + num_taps_;
}

int64_t AxisTaps::raw_start(int64_t output) const {
  return static_cast<int64_t>(std::ceil(static_cast<float>(output) * mapping_.scale + first_tap_));
}

int64_t AxisTaps::nearest(float centre) const {
  const float pixel = std::floor(centre) + mapping_.base;
  return std::clamp<int64_t>(static_cast<int64_t>(pixel), 0, input_size_ - 1);
}

int64_t AxisTaps::start_of(int64_t output) const {
  if (filter_ != ResampleFilter::kNearest)
    return std::clamp<int64_t>(raw_start(output), 0, input_size_ - num_taps_);
  if (!running_) return nearest(mapping_.centre(output));
  float centre = mapping_.centre(0);
  for (int64_t i = 0; i < output; ++i) centre += mapping_.scale;
  return nearest(centre);
}

void AxisTaps::fill_nearest(int32_t* starts) const {
  float centre = mapping_.centre(0);
  for (int64_t output = 0; output <= last_output_; ++output, centre += mapping_.scale) {
    if (output < first_output_) continue;
    const int64_t pixel = nearest(running_ ? centre : mapping_.centre(output));
    starts[reverse_ ? last_output_ - output : output - first_output_] = static_cast<int32_t>(pixel);
  }
}

template <ResampleFilter kFilter>
void AxisTaps::fill_for(int32_t* starts, float* weights) const {
  const double shrink = 1 / stretch_;
  for (int64_t i = 0; i < num_outputs_; ++i, weights += num_taps_) {
    const int64_t output = output_at(i);
    const float centre = mapping_.centre(output);
    const int64_t raw = raw_start(output);
    const int64_t start = std::clamp<int64_t>(raw, 0, input_size_ - num_taps_);
    starts[i] = static_cast<int32_t>(start);
    const double first = static_cast<double>(raw) + 0.5 - centre;
    double sum = 0;
    if (raw == start && num_taps_ == window_) {
      for (int k = 0; k < window_; ++k) {
        const double weight = filter_weight<kFilter>((first + k) * shrink);
        weights[k] = static_cast<float>(weight);
        sum += weight;
      }
    } else {
      std::fill_n(weights, num_taps_, 0.0f);
      for (int k = 0; k < window_; ++k) {
        const double weight = filter_weight<kFilter>((first + k) * shrink);
        // What falls outside the image goes to its edge pixel.
        const int64_t pixel = std::clamp<int64_t>(raw + k, 0, input_size_ - 1);
        weights[pixel - start] += static_cast<float>(weight);
        sum += weight;
      }
    }
    if (sum == 0) {
      // So far away that single precision does not tell neighbours apart.
      weights[nearest(centre) - start] = 1;
      sum = 1;
    }
    const float normalise = static_cast<float>(1 / sum);
    for (int k = 0; k < num_taps_; ++k) weights[k] *= normalise;
  }
}

void AxisTaps::fill(int32_t* starts, float* weights) const {
  switch (filter_) {
    case ResampleFilter::kNearest:
      fill_nearest(starts);
      std::fill_n(weights, num_outputs_, 1.0f);
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
