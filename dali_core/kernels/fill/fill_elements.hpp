// Elements as bits: filling needs to know their width, not their type.
#pragma once

#include <cstdint>

#include "dali_core/data_type.hpp"

namespace dali_core {

// A fill value (see fill_value.hpp) as an element of `type`: its bytes are the first in memory.
uint64_t fill_bits(DataType type, float value);

// Writes `count` elements of `bytes` bytes (1, 2, 4 or 8), which are the first in memory of `bits`,
// at every `stride`-th place.
void fill_elements(void* out, int64_t count, int64_t bytes, uint64_t bits, int64_t stride = 1);

}  // namespace dali_core
