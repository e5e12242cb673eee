// Loops over the rules of expressions, for each function and element type.
#pragma once

#include "dali_core/kernels/elementwise/elementwise.hpp"
#include "dali_core/kernels/elementwise/functions.hpp"

namespace dali_core {

// Functions that are the same few instructions for all elements, for this processor; null for the
// others. `type` is the type of the operands.
ElementwiseFunction vector_kernel(Function function, DataType type);

// Comparisons of UINT64 with INT64, by their values.
ElementwiseFunction mixed_comparison(Function function, bool first_is_unsigned);

// Functions that go element by element, on any processor alike; null for the others.
ElementwiseFunction scalar_kernel(Function function, DataType type);

[[noreturn]] void throw_zero_divisor(DataType type);

// Calls `visitor` with a zero of the type; null for types that nothing is computed in.
template <typename Visitor>
ElementwiseFunction visit_computed(DataType type, Visitor&& visitor) {
  return visit_type(type, [&](auto zero) -> ElementwiseFunction {
    if constexpr (std::is_same_v<decltype(zero), Half>)
      return nullptr;
    else
      return visitor(zero);
  });
}

}  // namespace dali_core
