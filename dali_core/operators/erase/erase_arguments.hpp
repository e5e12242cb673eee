// The arguments of fn.erase, and the regions that they give.
#pragma once

#include <string>
#include <vector>

#include "dali_core/operator.hpp"
#include "dali_core/operators/erase/erase.hpp"

namespace dali_core {

struct ErasedRegion {
  ErasedRange ranges[kMaxDims];

  bool is_empty(int ndim) const {
    for (int i = 0; i < ndim; ++i)
      if (ranges[i].start >= ranges[i].stop) return true;
    return false;
  }
};

class EraseArguments {
 public:
  explicit EraseArguments(const OperatorConfig& config)
      : anchor_(config, "anchor"),
        shape_(config, "shape"),
        fill_(config, "fill_value"),
        axes_(config.get_or<std::vector<int64_t>>("axes", {})),
        names_(config.get_or<std::string>("axis_names", "")),
        is_centered_(config.get_or<int>("centered_anchor", 0) != 0) {
    if (config.has("normalized") &&
        (config.has("normalized_anchor") || config.has("normalized_shape")))
      throw std::invalid_argument(
          "normalized must not be combined with normalized_anchor or normalized_shape (got both). "
          "Pass one or the other.");
    const int both = config.get_or<int>("normalized", 0);
    anchor_is_relative_ = config.get_or<int>("normalized_anchor", both) != 0;
    shape_is_relative_ = config.get_or<int>("normalized_shape", both) != 0;
  }

  std::vector<ErasedRegion> find_regions(const SampleContext& sample) const {
    const Shape& extents = sample.input(0).shape;
    const std::vector<int> axes = chosen_axes(sample.input(0));
    const std::vector<float> none;
    std::vector<float> anchor_storage, shape_storage;
    const auto& anchors = anchor_.given() ? anchor_.at(sample, anchor_storage) : none;
    const auto& shapes = shape_.given() ? shape_.at(sample, shape_storage) : none;
    if (!anchors.empty() && anchors.size() != shapes.size())
      throw std::invalid_argument("anchor and shape must have equally many numbers (got " +
                                  std::to_string(anchors.size()) + " and " +
                                  std::to_string(shapes.size()) + "). Give both for every region.");
    if (shapes.empty()) return {};
    if (axes.empty() || shapes.size() % axes.size() != 0)
      throw std::invalid_argument(
          "shape must have " + std::to_string(axes.size()) +
          " numbers for each region, one for each dimension that it is given for (got " +
          std::to_string(shapes.size()) + " for an input of shape " + to_string(extents) +
          "). Name the dimensions with axis_names or axes.");
    std::vector<ErasedRegion> regions;
    for (size_t first = 0; first < shapes.size(); first += axes.size()) {
      ErasedRegion region;
      for (int i = 0; i < extents.ndim; ++i) region.ranges[i] = {0, extents[i]};
      for (size_t i = 0; i < axes.size(); ++i) {
        const int64_t extent = extents[axes[i]];
        const auto scale = static_cast<float>(extent);
        const float anchor = anchors.empty() ? 0.0f : anchors[first + i];
        const float shape = shapes[first + i];
        region.ranges[axes[i]] =
            erased_range(anchor_is_relative_ ? anchor * scale : anchor,
                         shape_is_relative_ ? shape * scale : shape, is_centered_, extent);
      }
      if (!region.is_empty(extents.ndim)) regions.push_back(region);
    }
    return regions;
  }

  // What regions become: one number, or one for each channel. `storage` is as for ListArgument.
  const std::vector<float>& values(const SampleContext& sample, std::vector<float>& storage) const {
    const Tensor& input = sample.input(0);
    const std::vector<float>& given = fill_.at(sample, storage);
    check_values(given, input, input.layout.find('C'));
    return given;
  }

 private:
  std::vector<int> chosen_axes(const Tensor& input) const {
    const int ndim = input.shape.ndim;
    std::vector<int> axes;
    for (char name : names_) {
      axes.push_back(input.layout.find(name));
      if (axes.back() < 0 || axes.back() >= ndim)
        throw std::invalid_argument("axis_names must be letters of the input's layout (got '" +
                                    std::string(1, name) + "' for layout \"" +
                                    input.layout.c_str() +
                                    "\"). Use axes where the data has no layout.");
    }
    if (!names_.empty()) return axes;
    for (int64_t axis : axes_) {
      if (axis < -ndim || axis >= ndim)
        throw std::invalid_argument("axes must be from " + std::to_string(-ndim) + " to " +
                                    std::to_string(ndim - 1) + " (got " + std::to_string(axis) +
                                    " for shape " + to_string(input.shape) +
                                    "). Choose dimensions of the input.");
      axes.push_back(static_cast<int>(axis < 0 ? axis + ndim : axis));
    }
    if (axes_.empty())
      for (int axis = 0; axis < ndim; ++axis)
        if (axis != input.layout.find('C')) axes.push_back(axis);
    return axes;
  }

  static void check_values(const std::vector<float>& values, const Tensor& input,
                           int channel_axis) {
    if (values.size() == 1) return;
    if (channel_axis < 0)
      throw std::invalid_argument(
          "fill_value must be one number where the input's layout has no channels (got " +
          std::to_string(values.size()) + " for layout \"" + input.layout.c_str() +
          "\"). Set a layout with C.");
    if (static_cast<int64_t>(values.size()) != input.shape[channel_axis])
      throw std::invalid_argument("fill_value must be one number or one for each of the " +
                                  std::to_string(input.shape[channel_axis]) + " channels (got " +
                                  std::to_string(values.size()) +
                                  "). Pass as many as there are channels.");
  }

  ListArgument<float> anchor_, shape_, fill_;
  std::vector<int64_t> axes_;
  std::string names_;
  bool is_centered_;
  bool anchor_is_relative_ = false;
  bool shape_is_relative_ = false;
};

}  // namespace dali_core
