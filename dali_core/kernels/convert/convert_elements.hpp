// Conversion of runs of elements between any two types, compiled once for all operators and every
// instruction set. The rule for one element is convert() of convert.hpp.
#pragma once

#include <cstdint>

#include "dali_core/data_type.hpp"

namespace dali_core {

// `in` and `out` do not overlap.
void convert_elements(const void* in, DataType from, void* out, DataType to, int64_t count);

inline void convert_to_floats(const void* in, DataType from, float* out, int64_t count) {
  convert_elements(in, from, out, DataType::kFloat, count);
}

inline void convert_from_floats(const float* in, void* out, DataType to, int64_t count) {
  convert_elements(in, DataType::kFloat, out, to, count);
}

// Where element `index` of a run lies.
inline const void* element_at(const void* run, DataType type, int64_t index) {
  return static_cast<const char*>(run) + index * size_of(type);
}
inline void* element_at(void* run, DataType type, int64_t index) {
  return static_cast<char*>(run) + index * size_of(type);
}

}  // namespace dali_core
