// fn.tensor_resize: resampling along any three consecutive dimensions.
#include <algorithm>
#include <string>
#include <vector>

#include "dali_core/kernels/resize/resize_size.hpp"

namespace dali_core {

class TensorResize : public Operator {
 public:
  explicit TensorResize(const OperatorConfig& config)
      : size_(config),
        filters_(config),
        has_axes_(config.has("axes")),
        axes_(config.get_or<std::vector<int64_t>>("axes", {})),
        axis_names_(config.get_or<std::string>("axis_names", "")),
        has_names_(config.has("axis_names")) {}

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const DataType type = filters_.output_type(input.type);
    if (input.shape.ndim > 1) {
      ResampleAxis axes[kMaxDims];
      choose(sample, input, axes);
      resize(sample, input, axes, type);
      return;
    }
    if (input.shape.ndim == 0)
      throw std::invalid_argument(
          "the input must have a dimension to resize (got a scalar). Reshape it.");
    // Images have two axes.
    ResampleAxis axes[kMaxDims];
    choose(sample, input, axes + 1);
    axes[0] = ResampleAxis(1, 1, ResampleFilter::kLinear);
    const Tensor row = viewed_as(input, {1, input.shape[0]}, {});
    Tensor result;
    SampleContext on_row = sample.on(row, result, OutputSlot());
    resize(on_row, row, axes, type);
    sample.forward(0, result, {axes[1].made()}, input.layout);
  }

 private:
  // Finds what is wanted along each dimension.
  void choose(const SampleContext& sample, const Tensor& input, ResampleAxis* of_dims) const {
    const std::vector<int> named = axes_of(input);
    int64_t extent[kMaxDims];
    ResampleAxis axes[kMaxDims];
    const int count = static_cast<int>(named.size());
    for (int i = 0; i < count; ++i) extent[i] = input.shape[named[i]];
    size_.choose(sample, extent, count, axes);
    for (int i = 0; i < input.shape.ndim; ++i)
      of_dims[i] = ResampleAxis(input.shape[i], input.shape[i], ResampleFilter::kLinear);
    for (int i = 0; i < count; ++i) {
      filters_.choose(sample, axes[i]);
      of_dims[named[i]] = axes[i];
    }
  }

  static void resize(SampleContext& sample, const Tensor& input, const ResampleAxis* axes,
                     DataType type) {
    const int ndim = input.shape.ndim;
    int first = 0, last = ndim;
    while (first < ndim && axes[first].is_identity()) ++first;
    while (last > first && axes[last - 1].is_identity()) --last;
    if (last - first > 3)
      throw std::invalid_argument(
          "the dimensions that change must lie within three consecutive ones (got dimensions " +
          std::to_string(first) + " to " + std::to_string(last - 1) + " of shape " +
          to_string(input.shape) + "). Resize some after the others.");
    // An image has at least two axes.
    if (last - first < 2) first = std::max(std::min(first, ndim - 1) - 1, 0);
    last = std::max(last, first + 2);
    ResizeView view(input.shape[first], input.shape[first + 1]);
    view.shape = input.shape;
    view.layout = input.layout;
    view.first_axis = first;
    view.num_axes = last - first;
    for (int i = 0; i < first; ++i) view.outer *= input.shape[i];
    for (int i = last; i < ndim; ++i) view.channels *= input.shape[i];
    for (int i = 0; i < view.num_axes; ++i) view.extent[i] = input.shape[first + i];
    if (view.channels > kMaxPixels)
      throw std::invalid_argument(
          "the dimensions after those that change must have less than 2^31 elements (got " +
          std::to_string(view.channels) + "). Transpose the tensor.");
    resize_image(sample, view, axes + first, type);
  }

  std::vector<int> axes_of(const Tensor& input) const {
    const int ndim = input.shape.ndim;
    std::vector<int> axes;
    bool is_named[kMaxDims] = {};
    const auto add = [&](int64_t axis, const std::string& shown) {
      if (axis < 0 || axis >= ndim)
        throw std::out_of_range("axes must be dimensions of the input (got " + shown +
                                " for shape " + to_string(input.shape) + " with layout \"" +
                                input.layout.c_str() + "\"). Name others.");
      if (is_named[axis])
        throw std::invalid_argument("axes must be named once each (got dimension " +
                                    std::to_string(axis) + " twice). Name it once.");
      is_named[axis] = true;
      axes.push_back(static_cast<int>(axis));
    };
    for (const int64_t axis : axes_) add(axis < 0 ? axis + ndim : axis, std::to_string(axis));
    for (const char name : axis_names_)
      add(input.layout.find(name), "'" + std::string(1, name) + "'");
    if (!has_axes_ && !has_names_)
      for (int i = 0; i < ndim; ++i) axes.push_back(i);
    return axes;
  }

  ResizeSize size_;
  ResizeFilters filters_;
  bool has_axes_;
  std::vector<int64_t> axes_;
  std::string axis_names_;
  bool has_names_;
};

DALI_CORE_REGISTER_OPERATOR("tensor_resize", TensorResize)

}  // namespace dali_core
