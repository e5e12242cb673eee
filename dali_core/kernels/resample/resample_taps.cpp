// Computes the input pixels that make an output pixel, and their weights.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "dali_core/kernels/resample/resample.hpp"

namespace dali_core {
namespace {

template <ResampleFilter kFilter>
const double* samples_of() {
  static const auto samples = [] {
    // A Gaussian does not end at 0: it falls to 0 over one more sample.
    std::array<double, static_cast<size_t>(filter_table_size(kFilter))> values{};
    for (size_t i = 0; i + 1 < values.size(); ++i)
      values[i] = filter_value(kFilter, static_cast<double>(i) / kFilterSamples);
    return values;
  }();
  return samples.data();
}

}  // namespace

const double* filter_samples(ResampleFilter filter) {
  switch (filter) {
    case ResampleFilter::kCubic:
      return samples_of<ResampleFilter::kCubic>();
    case ResampleFilter::kLanczos3:
      return samples_of<ResampleFilter::kLanczos3>();
    case ResampleFilter::kGaussian:
      return samples_of<ResampleFilter::kGaussian>();
    default:
      return nullptr;
  }
}

AxisTaps::AxisTaps(const ResampleAxis& axis) {
  TapRule& rule = rule_;
  rule.mapping = {axis.begin, 1.0f, std::floor(std::min(axis.begin, axis.end))};
  rule.filter = axis.filter;
  rule.stretch = 1;
  rule.input_size = axis.input_size;
  rule.first_output = axis.first_output;
  rule.num_outputs = axis.made();
  rule.running = axis.running;
  rule.reverse = axis.reverse;
  rule.exclude_outside = axis.exclude_outside;
  rule.last_output = rule.first_output + rule.num_outputs - 1;
  rule.window = rule.num_taps = 1;
  if (rule.num_outputs == 0 || rule.input_size == 0) {
    rule.num_outputs = 0;
    return;
  }
  rule.mapping.scale = (axis.end - axis.begin) / static_cast<float>(axis.output_size);
  const float step = std::fabs(rule.mapping.scale);
  const bool exact_hits = step == 1.0f && axis.begin == std::floor(axis.begin);
  // A Gaussian blurs even where input and output pixels coincide, the other filters do nothing.
  if (exact_hits && rule.filter != ResampleFilter::kGaussian)
    rule.filter = ResampleFilter::kNearest;
  if (rule.filter != ResampleFilter::kNearest) {
    rule.mapping.base = 0;
    if (axis.antialias && step > 1) rule.stretch = step;
    // In single precision and through the number of samples, so that a tap exactly on the rim of a
    // Gaussian counts on the same side as in NVIDIA DALI.
    const float samples = static_cast<float>(filter_radius(rule.filter) * kFilterSamples);
    const float reach = samples / (kFilterSamples / static_cast<float>(rule.stretch));
    rule.first_tap = rule.mapping.begin + 0.5f * rule.mapping.scale - 0.5f - reach +
                     std::numeric_limits<float>::epsilon();
    rule.window = static_cast<int>(std::min(std::ceil(2 * reach), 1e9f));
    rule.num_taps = static_cast<int>(std::min<int64_t>(rule.window, rule.input_size));
  }
  const int64_t one_end = rule.start_of(rule.first_output);
  const int64_t other_end = rule.start_of(rule.last_output);
  source_begin_ = std::min(one_end, other_end);
  source_end_ = std::max(one_end, other_end) + rule.num_taps;
}

void AxisTaps::fill_nearest(int32_t* starts) const {
  const TapRule& rule = rule_;
  float centre = rule.mapping.centre(0);
  for (int64_t output = 0; output <= rule.last_output; ++output, centre += rule.mapping.scale) {
    if (output < rule.first_output) continue;
    const int64_t pixel = rule.nearest(rule.running ? centre : rule.mapping.centre(output));
    const int64_t place = rule.reverse ? rule.last_output - output : output - rule.first_output;
    starts[place] = static_cast<int32_t>(pixel);
  }
}

template <typename Filter>
void AxisTaps::fill_by(const Filter& filter, int32_t* starts, float* weights) const {
  for (int64_t i = 0; i < rule_.num_outputs; ++i, weights += rule_.num_taps)
    starts[i] = static_cast<int32_t>(rule_.fill(i, filter, weights, 1));
}

void AxisTaps::fill(int32_t* starts, float* weights) const {
  if (rule_.filter == ResampleFilter::kNearest) {
    fill_nearest(starts);
    std::fill_n(weights, rule_.num_outputs, 1.0f);
  } else if (rule_.exclude_outside) {
    fill_by(ExactFilter{rule_.filter}, starts, weights);
  } else if (const double* samples = filter_samples(rule_.filter)) {
    fill_by(SampledFilter{samples, filter_table_size(rule_.filter) - 2}, starts, weights);
  } else {
    fill_by(LinearFilter{}, starts, weights);
  }
}

}  // namespace dali_core
