// Filling a tensor with a smaller tensor that is repeated.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>

#include "dali_core/geometry.hpp"
#include "dali_core/kernels/fill/fill_elements.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

// Repeats `value` along the dimensions in which it has one element, aligned at the last dimension.
class Repeated {
 public:
  Repeated(const Tensor& value, const Tensor& output) : Repeated(value, output.shape) {}

  Repeated(const Tensor& value, const Shape& output) : Repeated(value.shape, output) {}

  Repeated(const Shape& value, const Shape& output) : extents_(output) {
    const int missing = output.ndim - value.ndim;
    bool fits = missing >= 0;
    const Strides strides = dense_strides(value);
    for (int i = 0; i < value.ndim && fits; ++i) {
      fits = value[i] == 1 || value[i] == output[i + missing];
      steps_[i + missing] = value[i] == 1 ? 0 : strides[i];
    }
    if (!fits)
      throw std::invalid_argument(
          "fill_value must have the output's shape where it has not 1 (got " + to_string(value) +
          " for an output of shape " + to_string(output) + "). Reshape it.");
    merge_dims();
  }

  // Elements between neighbours in the value, for each dimension of the output.
  const int64_t (&steps() const)[kMaxDims] { return steps_; }

  // Both have elements of `bytes` bytes.
  void write(const void* value, void* out, int64_t bytes) const {
    if (extents_.num_elements() > 0)
      write_dim(0, static_cast<const char*>(value), static_cast<char*>(out), bytes);
  }

 private:
  struct Dim {
    int64_t extent;
    int64_t step;
  };

  // Makes one of dimensions that are walked through like one.
  void merge_dims() {
    for (int i = 0; i < extents_.ndim; ++i) {
      if (extents_[i] == 1) continue;
      if (num_dims_ > 0 && dims_[num_dims_ - 1].step == steps_[i] * extents_[i]) {
        dims_[num_dims_ - 1].extent *= extents_[i];
        dims_[num_dims_ - 1].step = steps_[i];
      } else {
        dims_[num_dims_++] = {extents_[i], steps_[i]};
      }
    }
    if (num_dims_ == 0) dims_[num_dims_++] = {1, 0};
  }

  // Gives the place after what has been written.
  char* write_dim(int dim, const char* value, char* out, int64_t bytes) const {
    const auto [extent, step] = dims_[dim];
    if (dim + 1 < num_dims_) {
      char* end = write_dim(dim + 1, value, out, bytes);
      if (step == 0) return repeat(out, end - out, extent);
      for (int64_t i = 1; i < extent; ++i)
        end = write_dim(dim + 1, value + i * step * bytes, end, bytes);
      return end;
    }
    if (step != 0) {
      std::memcpy(out, value, static_cast<size_t>(extent * bytes));
    } else {
      uint64_t bits = 0;
      std::memcpy(&bits, value, static_cast<size_t>(bytes));
      fill_elements(out, extent, bytes, bits);
    }
    return out + extent * bytes;
  }

  // Writes the first `bytes` bytes again, until they are there `times` times.
  static char* repeat(char* out, int64_t bytes, int64_t times) {
    constexpr int64_t kCached = 1 << 14;  // of what is there is copied at a time
    const int64_t all = bytes * times;
    const int64_t most = bytes < kCached ? kCached / bytes * bytes : bytes;
    for (int64_t done = bytes; done < all;) {
      const int64_t count = std::min({done, most, all - done});
      std::memcpy(out + done, out, static_cast<size_t>(count));
      done += count;
    }
    return out + all;
  }

  Shape extents_;
  int64_t steps_[kMaxDims] = {};
  int num_dims_ = 0;
  Dim dims_[kMaxDims + 1];
};

}  // namespace dali_core
