// Helpers shared by kernels: the part of the batch that a thread works for, and elements of types
// that are known only at run time. For device code only.
#pragma once

#include <cstdint>

#include "dali_core/element_groups.hpp"

namespace dali_core {

// The sample that a block works for, as DeviceBatch::launch numbers them.
inline __device__ int64_t sample_of_block() {
  return blockIdx.y + static_cast<int64_t>(gridDim.y) * blockIdx.z;
}

// Items of a sample are first_item(), and so on in steps of item_step().
inline __device__ int64_t first_item() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
inline __device__ int64_t item_step() { return static_cast<int64_t>(gridDim.x) * blockDim.x; }

// Division of numbers that are not negative; those of 64 bits take five times as long.
DC_HOST_DEV int64_t quotient(int64_t number, int64_t divisor) {
  if (((number | divisor) >> 32) == 0)
    return static_cast<uint32_t>(number) / static_cast<uint32_t>(divisor);
  return number / divisor;
}

// Element `index` of an array, as a float.
DC_HOST_DEV float load_element(const void* from, int64_t index, DataType type) {
  if (type == DataType::kUInt8) return static_cast<const uint8_t*>(from)[index];
  if (type == DataType::kFloat) return static_cast<const float*>(from)[index];
  float value = 0;
  with_type(type, [&](auto zero) {
    value = convert<float>(static_cast<const decltype(zero)*>(from)[index]);
  });
  return value;
}

DC_HOST_DEV void store_element(void* to, int64_t index, DataType type, float value) {
  if (type == DataType::kFloat) {
    static_cast<float*>(to)[index] = value;
    return;
  }
  with_type(type, [&](auto zero) {
    using To = decltype(zero);
    static_cast<To*>(to)[index] = convert<To>(value);
  });
}

}  // namespace dali_core
