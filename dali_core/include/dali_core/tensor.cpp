#include "dali_core/tensor.hpp"

namespace dali_core {

Tensor viewed_as(const Tensor& tensor, const Shape& shape, const Layout& layout) {
  check_size(shape, tensor.type);
  Tensor view = tensor;
  view.shape = shape;
  view.layout = layout;
  return view;
}

}  // namespace dali_core
