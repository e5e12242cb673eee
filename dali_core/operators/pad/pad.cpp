#include "dali_core/operators/pad/pad.hpp"

#include <algorithm>
#include <cstring>

#include "dali_core/fill_elements.hpp"
#include "dali_core/geometry.hpp"
#include "dali_core/operator.hpp"
#include "dali_core/operators/pad/pad_arguments.hpp"

namespace dali_core {
namespace {

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
      if (is_padding(output[dim] - 1, input[dim])) innermost_ = dim;
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
  explicit Pad(const OperatorConfig& config) : arguments_(config) {}

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const Shape shape = arguments_.padded_shape(sample);
    if (shape == input.shape) {
      sample.forward(0, input);
      return;
    }
    const float value = arguments_.value(sample);
    Tensor& output = sample.output(0, input.type, shape, input.layout);
    PaddedCopy(input.shape, shape, input.type, value).copy(0, input.as<char>(), output.as<char>());
  }

 private:
  PadArguments arguments_;
};

DALI_CORE_REGISTER_OPERATOR("pad", Pad)
DALI_CORE_REGISTER_OPERATOR("pad.largest_extents", LargestExtents)

}  // namespace dali_core
