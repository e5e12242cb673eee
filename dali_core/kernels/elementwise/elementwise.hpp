// Elementwise operators: each element of the output follows from the elements of the inputs at the
// same place, after broadcasting. Several that depend on each other run as one: a thousand elements
// at a time go through all of them, so that inner values never leave the first-level cache. Results
// are bit for bit those of running the operators one after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "dali_core/operator.hpp"

namespace dali_core {

constexpr int kMaxOperands = 3;

// Computes `count` dense elements from as many of each operand.
using ElementwiseFunction = void (*)(const void* const* operands, void* result, int64_t count);

struct ElementwiseKernel {
  ElementwiseFunction function = nullptr;
  DataType operands[kMaxOperands] = {};  // what the function takes: operands are converted first
  DataType computed = DataType::kNone;   // what it gives
  DataType result = DataType::kNone;     // what that is converted to
  int number = 0;                        // by which device code knows the function
};

// An input of the operator, by its number, or a constant of one element.
struct ElementwiseOperand {
  int input = -1;
  Tensor constant;
};

class ElementwiseStep {
 public:
  virtual ~ElementwiseStep() = default;

  const std::vector<ElementwiseOperand>& operands() const { return operands_; }

  // How to compute operands of these types; throws if that is not possible.
  virtual ElementwiseKernel kernel(const DataType* types) const = 0;

 protected:
  std::vector<ElementwiseOperand> operands_;
};

// Converts dense elements to a type in which they are computed, or a computed FLOAT to FLOAT16.
// Integers wrap around.
void convert_operand(const void* in, DataType input_type, void* out, DataType output_type,
                     int64_t count);

// The extents of what comes from tensors of these two shapes; throws if they do not go together.
Shape broadcast(const Shape& a, const Shape& b);

// The longer of two layouts, of which one must be a suffix of the other.
Layout common_layout(const Layout& a, const Layout& b);

// What a step makes of operands: type, extents, layout and source of the value, but no data.
ElementwiseKernel resolve_step(const ElementwiseStep& step, const Tensor* const* operands,
                               Tensor& value);

// Some elementwise operators, the last of which depends on all others.
class ElementwiseProgram {
 public:
  // `makers` has, for each input of each step, the earlier step that makes it; -1 for none.
  ElementwiseProgram(std::vector<const ElementwiseStep*> steps,
                     std::vector<std::vector<int>> makers);

  // Makes output 0 of the last context. There is one for each step, with its inputs; `own` has the
  // scratch memory and notes the source.
  void run(SampleContext& own, const std::vector<SampleContext*>& contexts) const;

 private:
  friend class ElementwiseRun;

  std::vector<const ElementwiseStep*> steps_;
  std::vector<std::vector<int>> makers_;
};

}  // namespace dali_core
