// Vectorized access to elements in device code: four neighbours at a time, which are loaded and
// stored as one where they are aligned. Groups are aligned in the output, so the first one may
// begin ahead of it, and the last one may end behind.
#pragma once

// convert() compares with the limits of every type, which may be those of all numbers.
#if defined(__CUDACC_RTC__)
#pragma nv_diag_suppress 186
#endif

#include <cstdint>

#include "dali_core/convert.hpp"
#include "dali_core/data_type.hpp"
#include "dali_core/host_device.hpp"

namespace dali_core {

constexpr int kGroup = 4;
constexpr int kGroupThreads = 256;

template <typename T>
struct alignas(sizeof(T) < 4 ? 4 * sizeof(T) : 16) ElementGroup {
  T elements[kGroup];
};

// How many elements ahead of `out` the first group begins.
DC_HOST_DEV int64_t group_lead(const void* out, int64_t size) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(out) / static_cast<uintptr_t>(size)) %
         kGroup;
}

// How many groups `count` elements are.
DC_HOST_DEV int64_t num_groups(int64_t count, int64_t lead) {
  return (count + lead + kGroup - 1) / kGroup;
}

// Whether groups of T can be moved as one from or to the place `lead` elements ahead of `data`.
template <typename T>
DC_HOST_DEV bool is_group_aligned(const void* data, int64_t lead) {
  const uintptr_t begin =
      reinterpret_cast<uintptr_t>(data) - static_cast<uintptr_t>(lead) * sizeof(T);
  return begin % alignof(ElementGroup<T>) == 0;
}

// An element in a type that loses nothing of it.
template <typename Value, typename T>
DC_HOST_DEV Value widened(T element) {
  if constexpr (std::is_same_v<T, Half>)
    return static_cast<Value>(to_float(element));
  else
    return static_cast<Value>(element);
}

// Calls `function` with a zero of the C++ type behind `type`, as visit_type() does on the host.
template <typename Function>
DC_HOST_DEV void with_type(DataType type, Function&& function) {
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
    default:
      return function(bool{});
  }
}

// Loads elements `first` to `first + 3` of `count`, as far as there are so many. `first` may be
// negative.
template <typename T, typename Value>
DC_HOST_DEV void load_group(const T* in, int64_t first, int64_t count, bool is_aligned,
                            Value* values) {
  if (is_aligned && first >= 0 && first + kGroup <= count) {
    const ElementGroup<T> group = *reinterpret_cast<const ElementGroup<T>*>(in + first);
    for (int i = 0; i < kGroup; ++i) values[i] = widened<Value>(group.elements[i]);
  } else {
    for (int i = 0; i < kGroup; ++i)
      if (first + i >= 0 && first + i < count) values[i] = widened<Value>(in[first + i]);
  }
}

// Stores a group as one; `to` is aligned. On a device the compiler is not asked: it takes such a
// store apart where another branch stores the same elements one by one.
template <typename T>
DC_HOST_DEV void store_whole(T* to, const ElementGroup<T>& group) {
#if defined(__CUDA_ARCH__)
  uint32_t words[sizeof group / 4];
  std::memcpy(words, &group, sizeof group);
  if constexpr (sizeof group == 4) {
    asm volatile("st.b32 [%0], %1;" ::"l"(to), "r"(words[0]) : "memory");
  } else if constexpr (sizeof group == 8) {
    asm volatile("st.v2.b32 [%0], {%1, %2};" ::"l"(to), "r"(words[0]), "r"(words[1]) : "memory");
  } else {
#pragma unroll
    for (int i = 0; i < static_cast<int>(sizeof group / 16); ++i)
      asm volatile("st.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(reinterpret_cast<char*>(to) + 16 * i),
                   "r"(words[4 * i]), "r"(words[4 * i + 1]), "r"(words[4 * i + 2]),
                   "r"(words[4 * i + 3])
                   : "memory");
  }
#else
  *reinterpret_cast<ElementGroup<T>*>(to) = group;
#endif
}

// The counterpart of load_group(), for elements of the output's own type.
template <typename T>
DC_HOST_DEV void store_group(T* out, int64_t first, int64_t count, bool is_aligned,
                             const ElementGroup<T>& group) {
  if (is_aligned && first >= 0 && first + kGroup <= count) {
    store_whole(out + first, group);
  } else {
    for (int i = 0; i < kGroup; ++i)
      if (first + i >= 0 && first + i < count) out[first + i] = group.elements[i];
  }
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
