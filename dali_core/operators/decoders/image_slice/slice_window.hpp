// The window of an image that starts, ends and extents describe, absolute or relative.
#pragma once

#include <string>
#include <vector>

#include "dali_core/operator.hpp"
#include "dali_core/random_crop.hpp"

namespace dali_core {

class SliceArguments {
 public:
  explicit SliceArguments(const OperatorConfig& config);

  // The window in an image of `height` x `width`; it may reach outside.
  CropWindow window(const SampleContext& sample, int64_t height, int64_t width) const;

 private:
  // A coordinate of each axis, if any is given: absolute or as a share of the extent.
  struct Coordinates {
    std::vector<double> values;
    bool is_relative = false;
    bool is_computed_in_float = false;

    // In pixels along the axis with this position among the axes.
    double at(size_t position, size_t num_axes, int64_t extent, const char* name) const;
  };

  Coordinates named(const SampleContext& sample, const ListArgument<int64_t>& absolute,
                    const ListArgument<float>& relative) const;
  static Coordinates positional(const Tensor& input, bool is_relative);
  std::vector<int> axes_of(const SampleContext& sample) const;

  ListArgument<int64_t> start_, end_, shape_, axes_;
  ListArgument<float> relative_start_, relative_end_, relative_shape_;
  std::string axis_names_;
  bool normalized_anchor_, normalized_shape_;
};

}  // namespace dali_core
