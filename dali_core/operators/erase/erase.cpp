#include "dali_core/operators/erase/erase.hpp"

#include <algorithm>
#include <cstring>

#include "dali_core/geometry.hpp"
#include "dali_core/operator.hpp"
#include "dali_core/window.hpp"

namespace dali_core {
namespace {

struct Region {
  ErasedRange ranges[kMaxDims];

  bool is_empty(int ndim) const {
    for (int i = 0; i < ndim; ++i)
      if (ranges[i].start >= ranges[i].stop) return true;
    return false;
  }
};

// Fills regions dimension by dimension, down to the innermost one that is not erased whole.
template <typename T>
class RegionFill {
 public:
  RegionFill(const Shape& shape, int channel_axis, const std::vector<float>& values)
      : shape_(shape), strides_(dense_strides(shape)), channel_axis_(channel_axis) {
    for (float value : values) values_.push_back({fill_value<T>(value)});
  }

  void fill(const Region& region, T* out) const {
    int innermost = 0;
    for (int i = 0; i < shape_.ndim; ++i)
      if (region.ranges[i].stop - region.ranges[i].start < shape_[i]) innermost = i;
    if (shape_.ndim == 0)
      *out = values_[0].value;
    else
      fill_dim(0, innermost, region, out, 0);
  }

 private:
  void fill_dim(int dim, int innermost, const Region& region, T* out, int64_t channel) const {
    const ErasedRange range = region.ranges[dim];
    const int64_t stride = strides_[dim];
    if (dim < innermost) {
      for (int64_t i = range.start; i < range.stop; ++i)
        fill_dim(dim + 1, innermost, region, out + i * stride, dim == channel_axis_ ? i : channel);
      return;
    }
    T* const first = out + range.start * stride;
    T* const last = out + range.stop * stride;
    if (values_.size() == 1 || dim > channel_axis_)
      std::fill(first, last, values_[values_.size() == 1 ? 0 : channel].value);
    else if (dim == channel_axis_)
      fill_channels(first, range, stride);
    else
      repeat_channels(first, last);
  }

  void fill_channels(T* out, ErasedRange channels, int64_t stride) const {
    for (int64_t c = channels.start; c < channels.stop; ++c, out += stride)
      std::fill_n(out, stride, values_[c].value);
  }

  // Writes all channels once, then copies what there is behind itself.
  void repeat_channels(T* first, T* last) const {
    const int64_t count = last - first;
    const int64_t num_channels = shape_[channel_axis_];
    const int64_t stride = strides_[channel_axis_];
    fill_channels(first, {0, num_channels}, stride);
    for (int64_t done = num_channels * stride; done < count; done *= 2)
      std::memcpy(first + done, first,
                  static_cast<size_t>(std::min(done, count - done)) * sizeof(T));
  }

  // Keeps std::vector from packing booleans.
  struct Value {
    T value;
  };

  Shape shape_;
  Strides strides_;
  int channel_axis_;
  std::vector<Value> values_;
};

}  // namespace

class Erase : public Operator {
 public:
  explicit Erase(const OperatorConfig& config)
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

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const std::vector<Region> regions = find_regions(sample);
    if (regions.empty()) {
      sample.forward(0, input);
      return;
    }
    std::vector<float> storage;
    const std::vector<float>& values = fill_.at(sample, storage);
    const int channel_axis = input.layout.find('C');
    check_values(values, input, channel_axis);
    Tensor& output = sample.output(0, input.type, input.shape, input.layout);
    std::memcpy(output.data, input.data, static_cast<size_t>(input.num_bytes()));
    visit_type(input.type, [&](auto zero) {
      using T = decltype(zero);
      const RegionFill<T> filler(input.shape, channel_axis, values);
      for (const Region& region : regions) filler.fill(region, output.as<T>());
    });
  }

 private:
  std::vector<Region> find_regions(const SampleContext& sample) const {
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
    std::vector<Region> regions;
    for (size_t first = 0; first < shapes.size(); first += axes.size()) {
      Region region;
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

DALI_CORE_REGISTER_OPERATOR("erase", Erase)

}  // namespace dali_core
