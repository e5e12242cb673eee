#include "dali_core/kernels/elementwise/broadcasting.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "dali_core/kernels/elementwise/elementwise.hpp"

namespace dali_core {

Shape broadcast(const Shape& a, const Shape& b) {
  Shape result = a.ndim < b.ndim ? b : a;
  const Shape& other = a.ndim < b.ndim ? a : b;
  const int missing = result.ndim - other.ndim;
  for (int i = 0; i < other.ndim; ++i) {
    int64_t& extent = result[i + missing];
    if (extent != other[i] && extent != 1 && other[i] != 1)
      throw std::invalid_argument(
          "operands must have equal extents, counted from the last dimension, where neither is 1 "
          "(got shapes " +
          to_string(a) + " and " + to_string(b) + "). Use fn.reshape or dali_core.newaxis.");
    if (extent == 1) extent = other[i];
  }
  return result;
}

Layout common_layout(const Layout& a, const Layout& b) {
  const Layout& longer = a.ndim() < b.ndim() ? b : a;
  const Layout& other = a.ndim() < b.ndim() ? a : b;
  if (std::strcmp(longer.c_str() + longer.ndim() - other.ndim(), other.c_str()) != 0)
    throw std::invalid_argument(
        "operands must have the same layout, or one that the other ends with (got \"" +
        std::string(a.c_str()) + "\" and \"" + b.c_str() +
        "\"). Use fn.transpose, or fn.reinterpret to change the layout.");
  return longer;
}

BroadcastReader::BroadcastReader(const Tensor& tensor, const Shape& extents) : tensor_(tensor) {
  const int missing = extents.ndim - tensor.shape.ndim;
  int64_t stride = 1;
  // From the last dimension on, then turned around.
  for (int i = extents.ndim - 1; i >= 0; --i) {
    const int64_t own = i < missing ? 1 : tensor.shape[i - missing];
    if (extents[i] == 1) continue;
    const bool is_dense = own != 1;
    if (num_dims_ > 0 && is_dense_[num_dims_ - 1] == is_dense) {
      sizes_[num_dims_ - 1] *= extents[i];
    } else {
      sizes_[num_dims_] = extents[i];
      is_dense_[num_dims_] = is_dense;
      strides_[num_dims_] = is_dense ? stride : 0;
      ++num_dims_;
    }
    stride *= own;
  }
  if (num_dims_ == 0) {
    sizes_[0] = 1;
    is_dense_[0] = true;
    strides_[0] = 1;
    num_dims_ = 1;
  }
  std::reverse(sizes_, sizes_ + num_dims_);
  std::reverse(is_dense_, is_dense_ + num_dims_);
  std::reverse(strides_, strides_ + num_dims_);
}

void BroadcastReader::read(int64_t begin, int64_t count, void* out) const {
  switch (size_of(tensor_.type)) {
    case 1:
      return copy(begin, count, static_cast<uint8_t*>(out));
    case 2:
      return copy(begin, count, static_cast<uint16_t*>(out));
    case 4:
      return copy(begin, count, static_cast<uint32_t*>(out));
    default:
      return copy(begin, count, static_cast<uint64_t*>(out));
  }
}

template <typename T>
void BroadcastReader::copy(int64_t begin, int64_t count, T* out) const {
  int64_t place[kMaxDims];
  const T* from = tensor_.as<T>();
  const int last = num_dims_ - 1;
  int64_t left = begin;
  for (int i = last; i >= 0; --i) {
    place[i] = left % sizes_[i];
    left /= sizes_[i];
    from += place[i] * strides_[i];
  }
  while (count > 0) {
    const int64_t run = std::min(count, sizes_[last] - place[last]);
    if (is_dense_[last]) {
      out = std::copy_n(from, run, out);
    } else {
      out = std::fill_n(out, run, *from);
    }
    count -= run;
    from += run * strides_[last];
    place[last] += run;
    for (int i = last; i > 0 && place[i] == sizes_[i]; --i) {
      from += strides_[i - 1] - sizes_[i] * strides_[i];
      place[i] = 0;
      ++place[i - 1];
    }
  }
}

}  // namespace dali_core
