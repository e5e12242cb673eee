// Filling a tensor with a number, or with a smaller tensor that is repeated.
#pragma once

#include <cstring>
#include <string>

#include "dali_core/fill_elements.hpp"
#include "dali_core/geometry.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

inline void fill_with(Tensor& output, int number) {
  fill_elements(output.data, output.num_elements(), size_of(output.type),
                fill_bits(output.type, static_cast<float>(number)));
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

  // Both have elements of `bytes` bytes.
  void write(const void* value, void* out, int64_t bytes) const {
    if (extents_.num_elements() > 0)
      write_dim(0, static_cast<const char*>(value), static_cast<char*>(out), bytes);
  }

 private:
  // Gives the place after what has been written.
  char* write_dim(int dim, const char* value, char* out, int64_t bytes) const {
    const int64_t extent = dim == extents_.ndim ? 1 : extents_[dim];
    if (dim + 1 < extents_.ndim) {
      for (int64_t i = 0; i < extent; ++i)
        out = write_dim(dim + 1, value + i * steps_[dim] * bytes, out, bytes);
      return out;
    }
    if (dim < extents_.ndim && steps_[dim] != 0) {
      std::memcpy(out, value, static_cast<size_t>(extent * bytes));
    } else {
      uint64_t bits = 0;
      std::memcpy(&bits, value, static_cast<size_t>(bytes));
      fill_elements(out, extent, bytes, bits);
    }
    return out + extent * bytes;
  }

  Shape extents_;
  int64_t steps_[kMaxDims] = {};
};

}  // namespace dali_core
