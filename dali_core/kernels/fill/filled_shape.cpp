#include "dali_core/kernels/fill/filled_shape.hpp"

namespace dali_core {

Shape shape_of(const std::vector<int64_t>& extents) {
  Shape shape;
  for (const int64_t extent : extents) shape.push_back(extent);
  return shape;
}

void check_layout(const Layout& layout, const Shape& shape) {
  if (!layout.empty() && layout.ndim() != shape.ndim)
    throw std::invalid_argument("layout must have one letter a dimension (got \"" +
                                std::string(layout.c_str()) + "\" for shape " + to_string(shape) +
                                "). Pass a layout that fits.");
}

FilledShape::FilledShape(const OperatorConfig& config)
    : shape_(config, "shape"), layout_(config.get_or<std::string>("layout", "")) {
  if (!shape_.given())
    check_layout(layout_, Shape());
  else if (shape_.is_constant())
    check_layout(layout_, shape_of(config.get<std::vector<int64_t>>("shape")));
}

Shape FilledShape::shape(const SampleContext& sample) const {
  std::vector<int64_t> storage;
  const Shape shape = shape_.given() ? shape_of(shape_.at(sample, storage)) : Shape();
  check_layout(layout_, shape);
  return shape;
}

}  // namespace dali_core
