// A group of elementwise operators that computes in float throughout, as the kernel
// `run_float_program` reads it. Others are of the kernel `run_elementwise`.
#pragma once

#include <cstdint>

#include "dali_core/data_type.hpp"
#include "dali_core/kernels/elementwise/functions.hpp"

namespace dali_core {

constexpr int kFloatSlots = 2;  // values that wait for a later step
constexpr int kFloatOperands = 3;

enum class FloatSource : int32_t { kPrevious, kSlot, kPlain, kSingle, kConstant };

struct FloatOperand {
  FloatSource source;
  int32_t number;  // of the slot
  const void* data;
  float constant;
  DataType type;
};

struct FloatStep {
  Function function;
  int32_t slot;  // where the result waits, too; -1 for nowhere
  FloatOperand operands[kFloatOperands];
};

// What is done for one sample, whose result is float.
struct FloatTask {
  const FloatStep* steps;
  float* out;
  int64_t count;
  int num_steps;
};

// Whether the kernel knows a function; the others would make it long.
inline bool is_float_function(Function function) {
  switch (function) {
    case Function::kPlus:
    case Function::kMinus:
    case Function::kAbs:
    case Function::kFabs:
    case Function::kAdd:
    case Function::kSub:
    case Function::kMul:
    case Function::kTrueDiv:
    case Function::kMin:
    case Function::kMax:
    case Function::kClamp:
    case Function::kSqrt:
      return true;
    default:
      return false;
  }
}

inline bool is_float_operand(DataType type) {
  return type == DataType::kUInt8 || type == DataType::kInt16 || type == DataType::kInt32 ||
         type == DataType::kFloat16 || type == DataType::kFloat;
}

}  // namespace dali_core
