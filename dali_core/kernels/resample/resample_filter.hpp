// The rules of resampling along one axis: filter functions and where an output pixel looks.
//
// Pixel i covers [i, i + 1), so its centre is i + 0.5; the input repeats its edge pixels outwards.
#pragma once

#include <cmath>
#include <cstdint>

#include "dali_core/host_device.hpp"

namespace dali_core {

// The numbers are part of the public API (`types.DALIInterpType`).
enum class ResampleFilter : int32_t {
  kNearest = 0,
  kLinear = 1,
  kCubic = 2,
  kLanczos3 = 3,
  kTriangular = 4,
  kGaussian = 5,
};

// Distance from the centre, in input pixels, at which the unscaled filter ends.
DC_HOST_DEV int filter_radius(ResampleFilter filter) {
  switch (filter) {
    case ResampleFilter::kCubic:
      return 2;
    case ResampleFilter::kLanczos3:
      return 3;
    default:
      return 1;
  }
}

// Value of the filter at the distance `x` >= 0 of its centre. Weights are divided by their sum, so
// only ratios matter.
DC_HOST_DEV double filter_value(ResampleFilter filter, double x) {
  switch (filter) {
    case ResampleFilter::kCubic:
      // Keys, "Cubic convolution interpolation", 1981, with a = -1/2.
      if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
      if (x < 2) return ((-0.5 * x + 2.5) * x - 4) * x + 2;
      return 0;
    case ResampleFilter::kLanczos3: {
      if (x >= 3) return 0;
      if (x < 1e-6) return 1;
      constexpr double kPi = 3.14159265358979323846;
      return 3 * std::sin(kPi * x) * std::sin(kPi * x / 3) / (kPi * kPi * x * x);
    }
    case ResampleFilter::kGaussian:
      return std::exp(-4 * x * x);  // the standard deviation is 1 / sqrt(8)
    default:
      return x < 1 ? 1 - x : 0;
  }
}

// Curved filters are sampled this many times a pixel, with straight lines between the samples. It
// is the resolution of NVIDIA DALI, and worth 1e-3 of the range: enough to see in float outputs.
constexpr int kFilterSamples = 32;

// An axis runs from `begin` to `end` in input coordinates (end < begin mirrors the image).
// Positions are relative to `base`: in single precision that keeps the exact hits of whole-number
// scales.
struct AxisMapping {
  float begin;
  float scale;  // input pixels to an output pixel, negative when mirrored
  float base;   // a whole number

  DC_HOST_DEV float centre(int64_t output) const {
    return (static_cast<float>(output) + 0.5f) * scale + (begin - base);
  }
};

}  // namespace dali_core
