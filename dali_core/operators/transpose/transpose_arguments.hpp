// The arguments of fn.transpose, and what they make of an input.
#pragma once

#include <string>
#include <vector>

#include "dali_core/operator.hpp"
#include "dali_core/operators/transpose/transpose.hpp"

namespace dali_core {

// Shape and layout of the output, and what moves. Nothing does if there is nothing to move, or if
// everything stays in order.
struct Transposed {
  Shape shape;
  Layout layout;
  Transposition plan;
  bool stays = false;
};

class TransposeArguments {
 public:
  explicit TransposeArguments(const OperatorConfig& config);

  Transposed of(const Tensor& input) const;

 private:
  Layout output_layout(const Tensor& input, const int (&order)[kMaxDims]) const;
  std::string order_text() const;

  bool reversed_, transpose_layout_, set_layout_;
  std::vector<int> order_;
  Layout layout_;
};

}  // namespace dali_core
