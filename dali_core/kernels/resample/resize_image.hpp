// Resampling of whole samples: planes, frames and volumes in any layout, shared by the operators
// that resize.
#pragma once

#include <cstdint>

#include "dali_core/kernels/resample/resample.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

// Where the axes to be resized lie: a sample is `outer` images or volumes, one after the other, of
// `num_axes` axes (depth, height, width) with `channels` values for each pixel.
struct ResizeView {
  Shape shape;
  Layout layout;
  int first_axis = 0;
  int num_axes = 2;
  int64_t outer = 1;
  int64_t channels = 1;
  int64_t extent[3] = {};

  // `volumes` says whether the layout may have D.
  ResizeView(const Tensor& image, bool volumes);
  // One image whose channels do not matter.
  ResizeView(int64_t height, int64_t width) : shape{height, width}, extent{height, width} {}
};

// Reads interp_type, min_filter, mag_filter, antialias, exclude_outside and dtype.
class ResizeFilters {
 public:
  explicit ResizeFilters(const OperatorConfig& config);

  // Sets filter, antialias and exclude_outside of an axis whose sizes and region are set.
  void choose(const SampleContext& sample, ResampleAxis& axis) const;

  // The type of the output: the input's, or float.
  DataType output_type(DataType input) const;

 private:
  Argument<ResampleFilter> both_, shrinking_, growing_;
  bool antialias_, exclude_outside_;
  DataType type_;
};

// Whether the output of `resize_image` is its input.
bool resizing_changes_nothing(const Tensor& input, const ResizeView& view, const ResampleAxis* axes,
                              DataType type);

// Shape of its output, if such a tensor could be made at all.
Shape resized_shape(const Tensor& input, const ResizeView& view, const ResampleAxis* axes);

// Makes output 0 from input 0: `axes` are those of the view, in its order. Where an axis asks for a
// part of its outputs, or for the reverse order, nothing else is computed.
void resize_image(SampleContext& sample, const ResizeView& view, const ResampleAxis* axes,
                  DataType type);

}  // namespace dali_core
