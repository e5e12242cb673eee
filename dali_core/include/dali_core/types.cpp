#include "dali_core/types.hpp"

#include <stdexcept>

namespace dali_core {

const char* name_of(DataType type) {
  switch (type) {
    case DataType::kUInt8:
      return "uint8";
    case DataType::kUInt16:
      return "uint16";
    case DataType::kUInt32:
      return "uint32";
    case DataType::kUInt64:
      return "uint64";
    case DataType::kInt8:
      return "int8";
    case DataType::kInt16:
      return "int16";
    case DataType::kInt32:
      return "int32";
    case DataType::kInt64:
      return "int64";
    case DataType::kFloat16:
      return "float16";
    case DataType::kFloat:
      return "float32";
    case DataType::kFloat64:
      return "float64";
    case DataType::kBool:
      return "bool";
    default:
      return "no type";
  }
}

void refuse_no_type() {
  throw std::invalid_argument("a tensor without an element type cannot be computed on");
}

void refuse_dimension() { throw std::invalid_argument("tensors have at most 8 dimensions"); }

void refuse_letters(const char* text) {
  throw std::invalid_argument("layouts have at most 8 letters (got \"" + std::string(text) + "\")");
}

std::string to_string(const Shape& shape) {
  std::string text = "(";
  for (int i = 0; i < shape.ndim; ++i) {
    if (i) text += ", ";
    text += std::to_string(shape[i]);
  }
  if (shape.ndim == 1) text += ",";
  return text + ")";
}

bool is_possible(const Shape& shape, DataType type) {
  int64_t bytes = type == DataType::kNone ? 1 : size_of(type);
  for (int i = 0; i < shape.ndim; ++i) {
    if (shape[i] < 0) return false;
    if (shape[i] > 1 && __builtin_mul_overflow(bytes, shape[i], &bytes)) return false;
  }
  return bytes <= kMaxBytes;
}

void check_size(const Shape& shape, DataType type) {
  if (is_possible(shape, type)) return;
  throw SizeError("a tensor must have extents of at least 0, and at most " +
                  std::to_string(kMaxBytes) + " bytes (got shape " + to_string(shape) + " of " +
                  name_of(type) + "). Ask for a smaller one.");
}

}  // namespace dali_core
