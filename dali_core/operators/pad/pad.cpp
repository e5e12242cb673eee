#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "dali_core/geometry.hpp"
#include "dali_core/kernels/fill/fill_elements.hpp"
#include "dali_core/kernels/window/window_copy_device.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

// The least multiple of `align` that holds both the input and the extent that is asked for.
int64_t padded_extent(int64_t extent, int64_t least, int64_t align) {
  return (std::max(extent, least) + align - 1) / align * align;
}

// Copies dimension by dimension, down to the innermost one that is padded.
class PaddedCopy {
 public:
  PaddedCopy(const Shape& input, const Shape& output, DataType type, float value)
      : input_(input),
        output_(output),
        input_strides_(dense_strides(input)),
        output_strides_(dense_strides(output)),
        bytes_(size_of(type)),
        value_(fill_bits(type, value)) {
    for (int dim = 0; dim < input.ndim; ++dim)
      if (output[dim] > input[dim]) innermost_ = dim;
  }

  void copy(int dim, const char* in, char* out) const {
    const int64_t extent = input_[dim];
    const int64_t stride = output_strides_[dim];
    if (dim == innermost_) {
      if (extent * stride > 0) std::memcpy(out, in, static_cast<size_t>(extent * stride * bytes_));
    } else {
      for (int64_t i = 0; i < extent; ++i)
        copy(dim + 1, in + i * input_strides_[dim] * bytes_, out + i * stride * bytes_);
    }
    fill_elements(out + extent * stride * bytes_, (output_[dim] - extent) * stride, bytes_, value_);
  }

 private:
  Shape input_, output_;
  Strides input_strides_, output_strides_;
  int64_t bytes_;
  uint64_t value_;
  int innermost_ = 0;
};

}  // namespace

// Gives each sample the largest extents in its batch; elements are not looked at.
class LargestExtents : public Operator {
 public:
  explicit LargestExtents(const OperatorConfig&) {}

  bool reads_batch() const override { return true; }

  void run(SampleContext& sample) const override {
    const int ndim = sample.input(0).shape.ndim;
    int64_t* const largest = sample.output(0, DataType::kInt64, {ndim}).as<int64_t>();
    std::fill_n(largest, ndim, 0);
    for (int i = 0; i < sample.batch_size(); ++i) {
      const Shape& shape = sample.input_of_sample(0, i).shape;
      for (int dim = 0; dim < std::min(ndim, shape.ndim); ++dim)
        largest[dim] = std::max(largest[dim], shape[dim]);
    }
  }
};

class Pad : public Operator {
 public:
  explicit Pad(const OperatorConfig& config)
      : axes_(config, "axes"),
        shape_(config, "shape"),
        align_(config, "align"),
        value_(config, "fill_value"),
        names_(config.get_or<std::string>("axis_names", "")),
        knows_extents_(config.num_inputs > 1) {}

  struct Result : Inferred {
    float value = 0;
  };

  Result infer(const SampleContext& sample) const {
    const Tensor& input = sample.input(0);
    Result result{{input.type, padded_shape(sample), input.layout}};
    if (result.shape == input.shape)
      result.forwarded = 0;
    else
      result.value = value_.at(sample);
    return result;
  }

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const Result result = infer(sample);
    Tensor* const output = sample.output(result);
    if (output != nullptr)
      PaddedCopy(input.shape, output->shape, input.type, result.value)
          .copy(0, input.as<char>(), output->as<char>());
  }

  void plan(DeviceBatch& batch) const override {
    std::vector<PlannedWindow> windows;
    std::vector<float> values;
    batch.for_each([&](int, SampleContext& sample) {
      const Tensor& input = sample.input(0);
      const Result result = infer(sample);
      windows.push_back({Window(result.shape), input.type, input.layout, /*channel_axis=*/-1,
                         result.forwarded >= 0});
      values.push_back(result.value);
    });
    DeviceWindowCopies(batch, std::move(values)).run(windows);
  }

 private:
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

DALI_CORE_REGISTER_OPERATOR("pad", Pad)
DALI_CORE_REGISTER_OPERATOR("pad.largest_extents", LargestExtents)

}  // namespace dali_core
