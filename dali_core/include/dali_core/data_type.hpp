// Element types: what host code, the engine and device code have in common.
#pragma once

#include <cstdint>
#include <type_traits>

#include "dali_core/host_device.hpp"

namespace dali_core {

// The numbers are part of the public API (`types.DALIDataType`).
enum class DataType : int8_t {
  kNone = -1,
  kUInt8 = 0,
  kUInt16 = 1,
  kUInt32 = 2,
  kUInt64 = 3,
  kInt8 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kFloat16 = 8,
  kFloat = 9,
  kFloat64 = 10,
  kBool = 11,
};

DC_HOST_DEV int64_t size_of(DataType type) {
  switch (type) {
    case DataType::kUInt8:
    case DataType::kInt8:
    case DataType::kBool:
      return 1;
    case DataType::kUInt16:
    case DataType::kInt16:
    case DataType::kFloat16:
      return 2;
    case DataType::kUInt32:
    case DataType::kInt32:
    case DataType::kFloat:
      return 4;
    case DataType::kUInt64:
    case DataType::kInt64:
    case DataType::kFloat64:
      return 8;
    default:
      return 0;
  }
}

// Half precision is storage only: kernels compute in float and convert at the edges (half.hpp).
struct Half {
  uint16_t bits;
};

template <typename T>
constexpr DataType data_type_of() {
  if constexpr (std::is_same_v<T, bool>) return DataType::kBool;
  if constexpr (std::is_same_v<T, uint8_t>) return DataType::kUInt8;
  if constexpr (std::is_same_v<T, uint16_t>) return DataType::kUInt16;
  if constexpr (std::is_same_v<T, uint32_t>) return DataType::kUInt32;
  if constexpr (std::is_same_v<T, uint64_t>) return DataType::kUInt64;
  if constexpr (std::is_same_v<T, int8_t>) return DataType::kInt8;
  if constexpr (std::is_same_v<T, int16_t>) return DataType::kInt16;
  if constexpr (std::is_same_v<T, int32_t>) return DataType::kInt32;
  if constexpr (std::is_same_v<T, int64_t>) return DataType::kInt64;
  if constexpr (std::is_same_v<T, Half>) return DataType::kFloat16;
  if constexpr (std::is_same_v<T, float>) return DataType::kFloat;
  if constexpr (std::is_same_v<T, double>) return DataType::kFloat64;
  return DataType::kNone;
}

}  // namespace dali_core
