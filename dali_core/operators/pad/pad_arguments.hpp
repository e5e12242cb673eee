// The arguments of fn.pad, and the shape that they give to an input.
#pragma once

#include <string>
#include <vector>

#include "dali_core/operator.hpp"
#include "dali_core/operators/pad/pad.hpp"

namespace dali_core {

class PadArguments {
 public:
  explicit PadArguments(const OperatorConfig& config)
      : axes_(config, "axes"),
        shape_(config, "shape"),
        align_(config, "align"),
        value_(config, "fill_value"),
        names_(config.get_or<std::string>("axis_names", "")),
        knows_extents_(config.num_inputs > 1) {
    if (axes_.given() && config.has("axis_names"))
      throw std::invalid_argument(
          "at most one of axes and axis_names must be given (got both). Keep one.");
  }

  float value(const SampleContext& sample) const { return value_.at(sample); }

  Shape padded_shape(const SampleContext& sample) const {
    const Tensor& input = sample.input(0);
    std::vector<int> axes = chosen_axes(sample);
    const std::vector<int64_t> none;
    std::vector<int64_t> shape_storage, align_storage;
    const auto& extents = shape_.given() ? shape_.at(sample, shape_storage) : none;
    const auto& aligns = align_.given() ? align_.at(sample, align_storage) : none;
    if (shape_.given()) check_count("shape", extents.size(), axes.size());
    if (align_.given()) check_count("align", aligns.size(), axes.size());
    Shape shape = input.shape;
    for (size_t i = 0; i < axes.size(); ++i) {
      const int axis = axes[i];
      int64_t least = shape_.given() ? extents[extents.size() == 1 ? 0 : i] : -1;
      if (least <= 0) least = largest_extent(sample, axis);
      int64_t align = align_.given() ? aligns[aligns.size() == 1 ? 0 : i] : 1;
      align = checked_extent(align, "align");
      shape[axis] = padded_extent(input.shape[axis], checked_extent(least, "shape"), align);
    }
    return shape;
  }

 private:
  int64_t largest_extent(const SampleContext& sample, int axis) const {
    const Shape& shape = sample.input(0).shape;
    if (!knows_extents_) return shape[axis];
    const Tensor& extents = sample.input(1);
    if (extents.device != kHost)
      throw std::invalid_argument(
          "the least extents must be on the host (got some on the GPU). Pass them by .cpu().");
    if (extents.num_elements() != shape.ndim)
      throw std::invalid_argument("the least extents must be one for each of the " +
                                  std::to_string(shape.ndim) + " dimensions (got " +
                                  std::to_string(extents.num_elements()) +
                                  "). Pass one for each dimension, or leave out the second input.");
    return visit_type(extents.type, [&](auto zero) {
      return convert<int64_t>(extents.as<decltype(zero)>()[axis]);
    });
  }

  std::vector<int> chosen_axes(const SampleContext& sample) const {
    const Tensor& input = sample.input(0);
    const int ndim = input.shape.ndim;
    std::vector<int> axes;
    if (axes_.given()) {
      std::vector<int64_t> storage;
      for (int64_t axis : axes_.at(sample, storage)) {
        if (axis < -ndim || axis >= ndim)
          throw std::invalid_argument("axes must be from " + std::to_string(-ndim) + " to " +
                                      std::to_string(ndim - 1) + " (got " + std::to_string(axis) +
                                      " for shape " + to_string(input.shape) +
                                      "). Choose dimensions of the input.");
        axes.push_back(static_cast<int>(axis < 0 ? axis + ndim : axis));
      }
    }
    for (char name : names_) {
      axes.push_back(input.layout.find(name));
      if (axes.back() < 0)
        throw std::invalid_argument("axis_names must be letters of the input's layout (got '" +
                                    std::string(1, name) + "' for layout \"" +
                                    input.layout.c_str() +
                                    "\"). Use axes where the data has no layout.");
    }
    bool found[kMaxDims] = {};
    for (int axis : axes) {
      if (found[axis])
        throw std::invalid_argument("each dimension must be padded once (got dimension " +
                                    std::to_string(axis) + " of shape " + to_string(input.shape) +
                                    " twice). Name it once.");
      found[axis] = true;
    }
    if (axes.empty())
      for (int axis = 0; axis < ndim; ++axis) axes.push_back(axis);
    return axes;
  }

  static void check_count(const char* name, size_t count, size_t num_axes) {
    if (count != 1 && count != num_axes)
      throw std::invalid_argument(std::string(name) + " must have one number, or one for each of " +
                                  std::to_string(num_axes) + " dimensions to pad (got " +
                                  std::to_string(count) + "). Pass as many as there are axes.");
  }

  ListArgument<int64_t> axes_, shape_, align_;
  Argument<float> value_;
  std::string names_;
  bool knows_extents_;
};

}  // namespace dali_core
