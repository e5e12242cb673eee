// What kernels have in common: which part of the batch a thread works for, and elements of types
// that are known when the kernel runs. For device code only.
#pragma once

#include <cstdint>
#include <cstring>

#include "dali_core/convert.hpp"
#include "dali_core/data_type.hpp"
#include "dali_core/host_device.hpp"

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define DC_UNROLL _Pragma("unroll")
#else
#define DC_UNROLL
#endif

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

// Calls `function` with a value-initialised object of the C++ type behind `type`.
template <typename Function>
DC_HOST_DEV void visit_element(DataType type, Function&& function) {
  switch (type) {
    case DataType::kUInt8:
      return function(uint8_t{});
    case DataType::kUInt16:
      return function(uint16_t{});
    case DataType::kUInt32:
      return function(uint32_t{});
    case DataType::kUInt64:
      return function(uint64_t{});
    case DataType::kInt8:
      return function(int8_t{});
    case DataType::kInt16:
      return function(int16_t{});
    case DataType::kInt32:
      return function(int32_t{});
    case DataType::kInt64:
      return function(int64_t{});
    case DataType::kFloat16:
      return function(Half{});
    case DataType::kFloat:
      return function(float{});
    case DataType::kFloat64:
      return function(double{});
    case DataType::kBool:
      return function(bool{});
    default:
      return;
  }
}

// Element `index` of an array, as a float.
DC_HOST_DEV float load_element(const void* from, int64_t index, DataType type) {
  if (type == DataType::kUInt8) return static_cast<const uint8_t*>(from)[index];
  if (type == DataType::kFloat) return static_cast<const float*>(from)[index];
  float value = 0;
  visit_element(type, [&](auto zero) {
    value = convert<float>(static_cast<const decltype(zero)*>(from)[index]);
  });
  return value;
}

DC_HOST_DEV void store_element(void* to, int64_t index, DataType type, float value) {
  if (type == DataType::kFloat) {
    static_cast<float*>(to)[index] = value;
    return;
  }
  visit_element(type, [&](auto zero) {
    using To = decltype(zero);
    static_cast<To*>(to)[index] = convert<To>(value);
  });
}

// The lowest bytes of `bits` as an element of this size.
DC_HOST_DEV void store_bits(void* to, int64_t index, int64_t bytes, uint64_t bits) {
  switch (bytes) {
    case 1:
      static_cast<uint8_t*>(to)[index] = static_cast<uint8_t>(bits);
      return;
    case 2:
      static_cast<uint16_t*>(to)[index] = static_cast<uint16_t>(bits);
      return;
    case 4:
      static_cast<uint32_t*>(to)[index] = static_cast<uint32_t>(bits);
      return;
    default:
      static_cast<uint64_t*>(to)[index] = bits;
  }
}

}  // namespace dali_core
