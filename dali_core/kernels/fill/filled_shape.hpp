// The shape and layout that operators without data to take them from get as arguments.
#pragma once

#include <string>
#include <vector>

#include "dali_core/operator.hpp"

namespace dali_core {

Shape shape_of(const std::vector<int64_t>& extents);

void check_layout(const Layout& layout, const Shape& shape);

// The arguments `shape` and `layout`. Without a shape there is one number.
class FilledShape {
 public:
  explicit FilledShape(const OperatorConfig& config);

  Shape shape(const SampleContext& sample) const;

  const Layout& layout() const { return layout_; }

 private:
  ListArgument<int64_t> shape_;
  Layout layout_;
};

}  // namespace dali_core
