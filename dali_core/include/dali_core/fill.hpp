// Filling a tensor with a number, or with a smaller tensor that is repeated.
#pragma once

#include <algorithm>
#include <string>

#include "dali_core/geometry.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

inline void fill_with(Tensor& output, int number) {
  visit_type(output.type, [&](auto zero) {
    using To = decltype(zero);
    std::fill_n(output.as<To>(), output.num_elements(), convert<To>(number));
  });
}

// Repeats `value` along the dimensions in which it has one element, aligned at the last dimension.
class Repeated {
 public:
  Repeated(const Tensor& value, const Tensor& output) : Repeated(value, output.shape) {}

  Repeated(const Tensor& value, const Shape& output) : extents_(output) {
    const int missing = output.ndim - value.shape.ndim;
    bool fits = missing >= 0;
    const Strides strides = dense_strides(value.shape);
    for (int i = 0; i < value.shape.ndim && fits; ++i) {
      fits = value.shape[i] == 1 || value.shape[i] == output[i + missing];
      steps_[i + missing] = value.shape[i] == 1 ? 0 : strides[i];
    }
    if (!fits)
      throw std::invalid_argument(
          "fill_value must have the output's shape where it has not 1 (got " +
          to_string(value.shape) + " for an output of shape " + to_string(output) +
          "). Reshape it.");
  }

  // Elements between neighbours in the value, for each dimension of the output.
  const int64_t (&steps() const)[kMaxDims] { return steps_; }

  template <typename To, typename From>
  void write(const From* value, To* out) const {
    if (extents_.num_elements() > 0) write_dim(0, value, out);
  }

 private:
  // Gives the place after what has been written.
  template <typename To, typename From>
  To* write_dim(int dim, const From* value, To* out) const {
    if (dim == extents_.ndim) {
      *out = convert<To>(*value);
      return out + 1;
    }
    if (dim == extents_.ndim - 1) {
      for (int64_t i = 0; i < extents_[dim]; ++i) out[i] = convert<To>(value[i * steps_[dim]]);
      return out + extents_[dim];
    }
    for (int64_t i = 0; i < extents_[dim]; ++i)
      out = write_dim(dim + 1, value + i * steps_[dim], out);
    return out;
  }

  Shape extents_;
  int64_t steps_[kMaxDims] = {};
};

}  // namespace dali_core
