// A group of elementwise operators as the kernel `run_elementwise` reads it: instructions that
// every thread carries out for four elements at a time.
//
// Values are 8 bytes wide: integers with their sign, FLOAT and FLOAT16 as float, FLOAT64 as double.
// Every instruction rounds or wraps its result to the result's type, so bits are those that the
// host gives.
#pragma once

#include <cstdint>

#include "dali_core/data_type.hpp"
#include "dali_core/quick_division.hpp"

namespace dali_core {

constexpr int kMaxSlots = 6;  // values that wait for a later instruction
constexpr int kMaxCodeOperands = 3;
constexpr int kMaxCodeDims = 8;

// Where an operand comes from: the instruction before, one long before, a tensor or a constant.
enum class OperandSource : int8_t { kPrevious, kSlot, kMemory, kConstant };

// The conversion of an operand before it is used.
enum class Widening : int8_t {
  kNone,
  kSignedToFloat,
  kUnsignedToFloat,
  kSignedToDouble,
  kUnsignedToDouble,
  kFloatToDouble,
};

// How operands are read. UINT64 is unsigned, all other integers fit into what is signed.
enum class ComputedIn : int8_t {
  kSigned,
  kUnsigned,
  kFloat,
  kDouble,
  kUnsignedWithSigned,
  kSignedWithUnsigned,
};

struct OperandCode {
  OperandSource source;
  Widening widening;
  int16_t number;  // of the slot, tensor or constant

  bool operator==(const OperandCode& other) const {
    return source == other.source && widening == other.widening && number == other.number;
  }
};

struct ElementwiseInstruction {
  int16_t function;
  int8_t num_operands;
  int8_t slot;  // where the result waits, too; -1 for nowhere
  ComputedIn computed_in;
  DataType result;
  OperandCode operands[kMaxCodeOperands];

  bool operator==(const ElementwiseInstruction& other) const {
    for (int i = 0; i < kMaxCodeOperands; ++i)
      if (!(operands[i] == other.operands[i])) return false;
    return function == other.function && num_operands == other.num_operands && slot == other.slot &&
           computed_in == other.computed_in && result == other.result;
  }
};

// How elements of a tensor belong to those of the result: one to one, one to all, or by strides.
enum class Spread : int8_t { kPlain, kSingle, kStrided };

struct OperandMemory {
  const void* data;
  DataType type;
  Spread spread;
  int64_t strides[kMaxCodeDims];
};

// What is done for one sample. Dimensions are those of the result, as few as describe all operands.
struct ElementwiseTask {
  const ElementwiseInstruction* instructions;
  const uint64_t* constants;
  const OperandMemory* memory;
  void* out;
  int64_t count;
  int num_instructions;
  int num_dims;
  DataType type;
  QuickDivisor extents[kMaxCodeDims];
};

}  // namespace dali_core
