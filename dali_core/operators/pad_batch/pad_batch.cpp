// fn.pad_batch: sequences padded to one length, with masks.
#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "dali_core/geometry.hpp"
#include "dali_core/kernels/fill/fill_elements.hpp"
#include "dali_core/operator.hpp"
#include "dali_core/sizes.hpp"

namespace dali_core {

class PadBatch : public Operator {
 public:
  explicit PadBatch(const OperatorConfig& config)
      : axis_(config.get<int64_t>("axis")),
        multiple_(checked_extent(config.get<int64_t>("pad_to"), "pad_to")),
        is_left_(config.get<std::string>("side") == "left"),
        value_(config.get<float>("fill_value")),
        length_(checked_extent(config.get_or<int64_t>("length", 0), "length")),
        has_length_(config.has("length")),
        // Nothing is longer.
        max_length_(config.get_or<int64_t>("max_length", kMaxExtent)),
        mask_type_(config.get<DataType>("mask_dtype")) {}

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const int axis = checked_axis(input.shape);
    const int64_t kept = std::min(input.shape[axis], max_length_);
    Shape shape = input.shape;
    shape[axis] = padded_length(sample, axis, kept);
    Tensor& output = sample.output(0, input.type, shape, input.layout);
    copy(input, output, axis, kept);
    fill_mask(sample.output(1, mask_type_, {shape[axis]}), kept);
    *sample.output(2, DataType::kInt32, {}).as<int32_t>() = static_cast<int32_t>(kept);
  }

 private:
  int checked_axis(const Shape& shape) const {
    if (axis_ < -shape.ndim || axis_ >= shape.ndim)
      throw std::invalid_argument("axis must be from " + std::to_string(-shape.ndim) + " to " +
                                  std::to_string(shape.ndim - 1) + " (got " +
                                  std::to_string(axis_) + " for shape " + to_string(shape) +
                                  "). Choose a dimension of the input.");
    return static_cast<int>(axis_ < 0 ? axis_ + shape.ndim : axis_);
  }

  int64_t padded_length(const SampleContext& sample, int axis, int64_t kept) const {
    const int64_t wanted =
        has_length_ ? length_ : std::max(kept, std::min(largest(sample, axis), max_length_));
    if (kept > wanted)
      throw std::invalid_argument("sequences must have at most length=" + std::to_string(wanted) +
                                  " elements (got " + std::to_string(kept) +
                                  "). Pass max_length to cut them off, or a larger length.");
    const int64_t rounded = checked_sum(wanted, multiple_ - 1) / multiple_ * multiple_;
    // The lengths that are given have 32 bits.
    return checked_between(rounded, 0, INT32_MAX, "the padded length");
  }

  static int64_t largest(const SampleContext& sample, int axis) {
    if (sample.num_inputs() < 2) return 0;
    const Tensor& extents = sample.input(1);
    const int ndim = sample.input(0).shape.ndim;
    if (extents.num_elements() != ndim)
      throw std::invalid_argument("the least extents must be one for each of the " +
                                  std::to_string(ndim) + " dimensions (got " +
                                  std::to_string(extents.num_elements()) +
                                  "). Pass one for each dimension, or leave out the second input.");
    const int64_t extent = visit_type(extents.type, [&](auto zero) {
      return convert<int64_t>(extents.as<decltype(zero)>()[axis]);
    });
    return checked_extent(extent, "the least extent");
  }

  void copy(const Tensor& input, Tensor& output, int axis, int64_t kept) const {
    const int64_t bytes = size_of(input.type), inner = dense_strides(input.shape)[axis];
    const uint64_t fill = fill_bits(input.type, value_);
    int64_t outer = 1;
    for (int i = 0; i < axis; ++i) outer *= input.shape[i];
    const int64_t padding = (output.shape[axis] - kept) * inner;
    const char* in = input.as<char>();
    char* out = output.as<char>();
    for (int64_t i = 0; i < outer; ++i) {
      char* const values = out + (is_left_ ? padding * bytes : 0);
      char* const margin = out + (is_left_ ? 0 : kept * inner * bytes);
      if (kept * inner > 0) std::memcpy(values, in, static_cast<size_t>(kept * inner * bytes));
      fill_elements(margin, padding, bytes, fill);
      in += input.shape[axis] * inner * bytes;
      out += output.shape[axis] * inner * bytes;
    }
  }

  void fill_mask(Tensor& mask, int64_t kept) const {
    const int64_t bytes = size_of(mask_type_), padding = mask.shape[0] - kept;
    char* const out = mask.as<char>();
    fill_elements(out + (is_left_ ? padding * bytes : 0), kept, bytes, fill_bits(mask_type_, 1));
    fill_elements(out + (is_left_ ? 0 : kept * bytes), padding, bytes, fill_bits(mask_type_, 0));
  }

  int64_t axis_, multiple_;
  bool is_left_;
  float value_;
  int64_t length_;
  bool has_length_;
  int64_t max_length_;
  DataType mask_type_;
};

DALI_CORE_REGISTER_OPERATOR("pad_batch", PadBatch)

}  // namespace dali_core
