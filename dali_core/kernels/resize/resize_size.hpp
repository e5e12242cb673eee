// From the arguments of fn.resize to sizes and regions: which part of the input becomes how large.
#pragma once

#include <string>
#include <vector>

#include "dali_core/kernels/resample/resize_image.hpp"

namespace dali_core {

enum class ResizeMode { kDefault, kStretch, kNotLarger, kNotSmaller };

enum class SizeRounding { kRound, kTruncate, kCeil };

// Sizes and regions are in single precision, as is usual for them: halves round the same way.
class ResizeSize {
 public:
  explicit ResizeSize(const OperatorConfig& config);

  // Sets sizes and regions of `axes`, one for each axis of the view.
  void choose(const SampleContext& sample, const ResizeView& view, ResampleAxis* axes) const {
    choose(sample, view.extent, view.num_axes, axes);
  }

  // The same for any axes of a tensor, given by their extents in the input.
  void choose(const SampleContext& sample, const int64_t* extent, int num_axes,
              ResampleAxis* axes) const;

 private:
  void requested_sizes(const SampleContext& sample, const int64_t* extents, int num_axes,
                       float* size) const;
  void set_region(const SampleContext& sample, const int64_t* extent, int num_axes,
                  ResampleAxis* axes) const;
  int64_t rounded(float size) const;
  void fit(int num_axes, const float* extent, const float* limit, float* size) const;
  void limits(int num_axes, float* limit) const;

  Argument<float> x_, y_, z_, shorter_, longer_;
  ListArgument<float> size_, scales_, alignment_, roi_start_, roi_end_;
  std::vector<float> max_size_;
  ResizeMode mode_;
  SizeRounding rounding_;
  bool roi_relative_;
  bool subpixel_scale_;
};

}  // namespace dali_core
