// The shape and layout that operators without data to take them from get as arguments.
#pragma once

#include <string>
#include <vector>

#include "dali_core/operator.hpp"

namespace dali_core {

inline Shape checked_shape(const std::vector<int64_t>& extents) {
  Shape shape;
  for (const int64_t extent : extents) {
    if (extent < 0)
      throw std::invalid_argument("shape must have extents of at least 0 (got " +
                                  std::to_string(extent) + "). Pass extents, or 0 for none.");
    shape.push_back(extent);
  }
  return shape;
}

inline void check_layout(const Layout& layout, const Shape& shape) {
  if (!layout.empty() && layout.ndim() != shape.ndim)
    throw std::invalid_argument("layout must have one letter a dimension (got \"" +
                                std::string(layout.c_str()) + "\" for shape " + to_string(shape) +
                                "). Pass a layout that fits.");
}

// The arguments `shape` and `layout`. Without a shape there is one number.
class FilledShape {
 public:
  explicit FilledShape(const OperatorConfig& config)
      : shape_(config, "shape"), layout_(config.get_or<std::string>("layout", "")) {
    if (!shape_.given())
      check_layout(layout_, Shape());
    else if (shape_.is_constant())
      check_layout(layout_, checked_shape(config.get<std::vector<int64_t>>("shape")));
  }

  Shape shape(const SampleContext& sample) const {
    std::vector<int64_t> storage;
    const Shape shape = shape_.given() ? checked_shape(shape_.at(sample, storage)) : Shape();
    check_layout(layout_, shape);
    return shape;
  }

  const Layout& layout() const { return layout_; }

  // Declares output 0.
  Tensor& output(SampleContext& sample, DataType type) const {
    return sample.output(0, type, shape(sample), layout_);
  }

 private:
  ListArgument<int64_t> shape_;
  Layout layout_;
};

}  // namespace dali_core
