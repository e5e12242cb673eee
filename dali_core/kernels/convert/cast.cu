// Converts elements of any type to any other. Elements are widened to one of five types, so that
// there are 12 ways to load and 60 ways to store, rather than 144 of both.
#include "dali_core/device_groups.hpp"
#include "dali_core/kernels/convert/cast.hpp"

namespace dali_core {

// Usual types go two groups at a time; for the others that would be much code for little use.
template <typename Value>
inline constexpr int kGroupsAtOnce =
    std::is_same_v<Value, int32_t> || std::is_same_v<Value, float> ? kCastGroups : 1;

// The groups of one thread, `apart` groups from each other.
struct CastPlace {
  int64_t first;
  int64_t apart;
  int64_t end;
  int64_t lead;
  int64_t count;
};

template <typename T, typename Value>
__device__ void load_groups(const void* in, const CastPlace& place, Value* values) {
  const T* const elements = static_cast<const T*>(in);
  const bool is_aligned = is_group_aligned<T>(in, place.lead);
#pragma unroll
  for (int k = 0; k < kGroupsAtOnce<Value>; ++k) {
    const int64_t group = place.first + k * place.apart;
    if (group < place.end)
      load_group(elements, group * kGroup - place.lead, place.count, is_aligned,
                 values + k * kGroup);
  }
}

// Elements of up to four bytes: converted by type, stored by size.
template <typename T, typename Value>
__device__ void convert_groups(const Value* values, uint32_t* bits) {
#pragma unroll
  for (int i = 0; i < kGroup * kGroupsAtOnce<Value>; ++i) {
    const T converted = convert<T>(values[i]);
    if constexpr (std::is_same_v<T, float>)
      std::memcpy(bits + i, &converted, sizeof converted);
    else if constexpr (std::is_same_v<T, Half>)
      bits[i] = converted.bits;
    else
      bits[i] = static_cast<uint32_t>(converted);
  }
}

template <typename Bits, int kGroups>
__device__ void store_groups(void* out, const CastPlace& place, const uint32_t* bits) {
  Bits* const elements = static_cast<Bits*>(out);
  const bool is_aligned = is_group_aligned<Bits>(out, place.lead);
#pragma unroll
  for (int k = 0; k < kGroups; ++k) {
    const int64_t group = place.first + k * place.apart;
    if (group >= place.end) break;
    ElementGroup<Bits> stored;
    for (int i = 0; i < kGroup; ++i) stored.elements[i] = static_cast<Bits>(bits[k * kGroup + i]);
    store_group(elements, group * kGroup - place.lead, place.count, is_aligned, stored);
  }
}

// One by one, since conversions from or to eight bytes are long.
template <typename T, typename Value>
__device__ void store_each(void* out, const CastPlace& place, const Value* values) {
  T* const elements = static_cast<T*>(out);
  Value own[kGroup * kGroupsAtOnce<Value>];
  for (int i = 0; i < kGroup * kGroupsAtOnce<Value>; ++i) own[i] = values[i];
#pragma unroll 1
  for (int i = 0; i < kGroup * kGroupsAtOnce<Value>; ++i) {
    const int64_t group = place.first + i / kGroup * place.apart;
    const int64_t number = group * kGroup - place.lead + i % kGroup;
    if (number >= 0 && number < place.count) elements[number] = convert<T>(own[i]);
  }
}

template <typename Value>
__device__ void store_as(const CastTask& task, const CastPlace& place, const Value* values) {
  constexpr int kGroups = kGroupsAtOnce<Value>;
  uint32_t bits[kGroup * kGroups] = {};
  with_type(task.to, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (sizeof(T) == 8 || sizeof(Value) == 8)
      store_each<T>(task.out, place, values);
    else
      convert_groups<T>(values, bits);
  });
  if constexpr (sizeof(Value) < 8) {
    switch (size_of(task.to)) {
      case 1:
        return store_groups<uint8_t, kGroups>(task.out, place, bits);
      case 2:
        return store_groups<uint16_t, kGroups>(task.out, place, bits);
      case 4:
        return store_groups<uint32_t, kGroups>(task.out, place, bits);
      default:
        return;
    }
  }
}

template <typename Value>
__device__ void load_as(const CastTask& task, const CastPlace& place, Value* values) {
  if constexpr (std::is_same_v<Value, int32_t>) {
    switch (task.from) {
      case DataType::kUInt8:
        return load_groups<uint8_t>(task.in, place, values);
      case DataType::kUInt16:
        return load_groups<uint16_t>(task.in, place, values);
      case DataType::kInt8:
        return load_groups<int8_t>(task.in, place, values);
      case DataType::kInt16:
        return load_groups<int16_t>(task.in, place, values);
      case DataType::kBool:
        return load_groups<bool>(task.in, place, values);
      default:
        return load_groups<int32_t>(task.in, place, values);
    }
  } else if constexpr (std::is_same_v<Value, float>) {
    if (task.from == DataType::kFloat16) return load_groups<Half>(task.in, place, values);
    load_groups<float>(task.in, place, values);
  } else if constexpr (std::is_same_v<Value, int64_t>) {
    if (task.from == DataType::kUInt32) return load_groups<uint32_t>(task.in, place, values);
    load_groups<int64_t>(task.in, place, values);
  } else {
    load_groups<Value>(task.in, place, values);
  }
}

template <typename Value>
__device__ void cast_as(const CastTask& task) {
  CastPlace place;
  place.apart = blockDim.x;
  place.lead = group_lead(task.out, size_of(task.to));
  place.end = num_groups(task.count, place.lead);
  place.count = task.count;
  const int64_t per_block = static_cast<int64_t>(blockDim.x) * kGroupsAtOnce<Value>;
  for (place.first = blockIdx.x * per_block + threadIdx.x; place.first < place.end;
       place.first += gridDim.x * per_block) {
    Value values[kGroup * kGroupsAtOnce<Value>] = {};
    load_as(task, place, values);
    store_as(task, place, values);
  }
}

}  // namespace dali_core

extern "C" __global__ void cast_elements(const dali_core::CastTask* tasks, int count) {
  const int number = static_cast<int>(blockIdx.y + gridDim.y * blockIdx.z);
  if (number >= count) return;
  const dali_core::CastTask task = tasks[number];
  const bool is_usual = dali_core::with_usual_types(task.from, task.to, [&](auto from, auto to) {
    dali_core::map_floats<decltype(from), decltype(to)>(task.in, task.out, task.count,
                                                        [](float value) { return value; });
  });
  if (is_usual) return;
  switch (task.from) {
    case dali_core::DataType::kUInt64:
      return dali_core::cast_as<uint64_t>(task);
    case dali_core::DataType::kUInt32:
    case dali_core::DataType::kInt64:
      return dali_core::cast_as<int64_t>(task);
    case dali_core::DataType::kFloat16:
    case dali_core::DataType::kFloat:
      return dali_core::cast_as<float>(task);
    case dali_core::DataType::kFloat64:
      return dali_core::cast_as<double>(task);
    default:
      return dali_core::cast_as<int32_t>(task);
  }
}
