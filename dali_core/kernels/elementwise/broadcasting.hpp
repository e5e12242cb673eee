// Broadcasting: an operand of an expression is repeated to fill the extents of the result.
#pragma once

#include <cstdint>

#include "dali_core/tensor.hpp"

namespace dali_core {

// Reads a tensor as if it had the extents of another, a run of elements at a time.
class BroadcastReader {
 public:
  // `extents` are those that `broadcast` gives for `tensor` and others.
  BroadcastReader(const Tensor& tensor, const Shape& extents);

  // Whether nothing is repeated: elements are in the tensor in their order.
  bool is_plain() const { return num_dims_ == 1 && is_dense_[0]; }
  // Whether it is one element again and again.
  bool is_single() const { return num_dims_ == 1 && !is_dense_[0]; }
  // The number of elements after which everything repeats from the tensor's first element on; 0 if
  // it is not as simple.
  int64_t period() const { return num_dims_ == 2 && is_dense_[1] ? sizes_[1] : 0; }

  // Writes elements `begin` to `begin + count`.
  void read(int64_t begin, int64_t count, void* out) const;

 private:
  template <typename T>
  void copy(int64_t begin, int64_t count, T* out) const;

  const Tensor& tensor_;
  // Neighbouring dimensions are one, if both are repeated or both are not.
  int num_dims_ = 0;
  int64_t sizes_[kMaxDims] = {};
  bool is_dense_[kMaxDims] = {};
  int64_t strides_[kMaxDims] = {};
};

}  // namespace dali_core
