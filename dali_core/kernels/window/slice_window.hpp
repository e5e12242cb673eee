// The window of a tensor that starts, ends and extents describe, absolute or relative.
#pragma once

#include <string>
#include <vector>

#include "dali_core/kernels/window/window.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

// How the dimensions of a tensor are called; those of data without a layout have the usual names.
Layout slice_layout(const Tensor& input);

class SliceArguments {
 public:
  // Reads start, end and shape, absolute and relative, axes, axis_names, normalized_anchor and
  // normalized_shape. Where neither axes nor axis_names are given, the axes are W and H.
  explicit SliceArguments(const OperatorConfig& config);

  // The window in a tensor of some shape, whose dimensions have the letters of `layout`; it may
  // reach outside.
  Window window(const SampleContext& sample, const Shape& shape, const Layout& layout) const;

 private:
  // A coordinate of each axis, if any is given: absolute or as a share of the axis' extent.
  struct Coordinates {
    std::vector<double> values;
    bool is_relative = false;
    bool is_computed_in_float = false;

    // In elements along the axis with this position among the axes.
    double at(size_t position, size_t num_axes, int64_t extent, const char* name) const;
  };

  Coordinates named(const SampleContext& sample, const ListArgument<int64_t>& absolute,
                    const ListArgument<float>& relative) const;
  static Coordinates positional(const Tensor& input, bool is_relative);
  std::vector<int> axes_of(const SampleContext& sample, const Shape& shape,
                           const Layout& layout) const;

  ListArgument<int64_t> start_, end_, shape_, axes_;
  ListArgument<float> relative_start_, relative_end_, relative_shape_;
  std::string axis_names_;
  bool normalized_anchor_, normalized_shape_;
};

}  // namespace dali_core
