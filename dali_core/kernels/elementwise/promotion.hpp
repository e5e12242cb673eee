// Type promotion: the type in which a function is computed, from the types of its operands.
#pragma once

#include "dali_core/types.hpp"

namespace dali_core {

inline bool is_float_type(DataType type) {
  return type == DataType::kFloat16 || type == DataType::kFloat || type == DataType::kFloat64;
}

inline bool is_signed_type(DataType type) {
  return type == DataType::kInt8 || type == DataType::kInt16 || type == DataType::kInt32 ||
         type == DataType::kInt64;
}

inline DataType signed_type(int64_t size) {
  return size == 1   ? DataType::kInt8
         : size == 2 ? DataType::kInt16
         : size == 4 ? DataType::kInt32
                     : DataType::kInt64;
}

// The type of what is computed from both: BOOL yields to everything, integers yield to floating
// point, and of integers with and without sign comes one with a sign that has room for both, but
// INT64 for UINT64.
inline DataType promoted_type(DataType a, DataType b) {
  if (a == b || b == DataType::kBool) return a;
  if (a == DataType::kBool) return b;
  if (is_float_type(a) != is_float_type(b)) return is_float_type(a) ? a : b;
  if (is_float_type(a) || is_signed_type(a) == is_signed_type(b))
    return size_of(a) > size_of(b) ? a : b;
  const int64_t with_sign = size_of(is_signed_type(a) ? a : b);
  const int64_t without = size_of(is_signed_type(a) ? b : a);
  return signed_type(with_sign > without ? with_sign : 2 * without);
}

}  // namespace dali_core
