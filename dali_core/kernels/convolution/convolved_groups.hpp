// Helpers shared by kernels of convolution: sums for a few places along an axis and a few
// neighbours across it, to which the weights of a window are added one after the other. For device
// code only.
#pragma once

#include <cstdint>
#include <type_traits>

#include "dali_core/device_groups.hpp"

namespace dali_core {

// Stands for types that are known when the kernel runs.
struct AnyNumber {};

template <int kAlong, int kAcross>
struct ConvolvedSums {
  float values[kAlong][kAcross] = {};
};

inline __device__ float number_at(const void* data, int64_t index, DataType, uint8_t) {
  const uint32_t byte = static_cast<const uint8_t*>(data)[index];
  return __uint_as_float(byte | 0x4b000000u) - kCountsOnes;
}
inline __device__ float number_at(const void* data, int64_t index, DataType, float) {
  return static_cast<const float*>(data)[index];
}
// Long, and used rarely: device code has it once.
__device__ __noinline__ float any_number_at(const void* data, int64_t index, DataType type) {
  return load_element(data, index, type);
}
inline __device__ float number_at(const void* data, int64_t index, DataType type, AnyNumber) {
  return any_number_at(data, index, type);
}

// Numbers from `index` on; those of aligned groups are loaded as one.
template <typename From, bool kAligned, int kAcross>
inline __device__ void load_numbers(const void* data, int64_t index, DataType type,
                                    float (&values)[kAcross]) {
  if constexpr (kAligned && kAcross == kGroup && !std::is_same_v<From, AnyNumber>) {
    load_whole<true>(static_cast<const From*>(data) + index).to_floats(values);
  } else {
#pragma unroll
    for (int c = 0; c < kAcross; ++c) values[c] = number_at(data, index + c, type, From{});
  }
}

// Adds a row of `count` weights to sums. `load(k, values)` loads the neighbours at a place, which
// is counted from the first one that the window covers; every one is loaded once.
template <bool kSkipsZeros, int kAlong, int kAcross, typename Load>
inline __device__ void add_weights(const float* weights, int64_t count, const Load& load,
                                   ConvolvedSums<kAlong, kAcross>& sums) {
  float values[kAlong][kAcross];
#pragma unroll
  for (int i = 0; i + 1 < kAlong; ++i) load(i, values[i]);
  const auto add = [&](int64_t k, int turn) {
    load(k + kAlong - 1, values[(turn + kAlong - 1) % kAlong]);
    const float weight = weights[k];
    if (kSkipsZeros && weight == 0) return;
#pragma unroll
    for (int i = 0; i < kAlong; ++i)
#pragma unroll
      for (int c = 0; c < kAcross; ++c)
        sums.values[i][c] += values[(turn + i) % kAlong][c] * weight;
  };
  int64_t k = 0;
#pragma unroll 1
  for (; k + kAlong <= count; k += kAlong)
#pragma unroll
    for (int turn = 0; turn < kAlong; ++turn) add(k + turn, turn);
#pragma unroll
  for (int turn = 0; turn < kAlong - 1; ++turn)
    if (k + turn < count) add(k + turn, turn);
}

// Stores sums in groups where they are aligned; `count` is how many places there are. `convert`
// makes an ElementGroup<To> of four sums.
template <typename To, int kAlong, int kAcross, typename Convert>
inline __device__ void store_sums(To* to, int64_t step, int64_t count,
                                  const ConvolvedSums<kAlong, kAcross>& sums,
                                  const Convert& convert) {
  const bool begins_group =
      reinterpret_cast<uintptr_t>(to) % static_cast<uintptr_t>(alignof(ElementGroup<To>)) == 0;
  if (kAcross == kGroup && begins_group && step % kGroup == 0) {
#pragma unroll
    for (int i = 0; i < kAlong; ++i) {
      if (i >= count) break;
      float values[kGroup];
#pragma unroll
      for (int c = 0; c < kGroup; ++c) values[c] = sums.values[i][c % kAcross];
      store_whole(to + i * step, convert(values));
    }
  } else if (step == kAcross && count >= kAlong && begins_group) {
#pragma unroll
    for (int group = 0; group < kAlong * kAcross / kGroup; ++group) {
      float values[kGroup];
#pragma unroll
      for (int n = 0; n < kGroup; ++n) {
        const int number = group * kGroup + n;
        values[n] = sums.values[number / kAcross][number % kAcross];
      }
      store_whole(to + group * kGroup, convert(values));
    }
  } else {
#pragma unroll
    for (int i = 0; i < kAlong; ++i)
#pragma unroll
      for (int c = 0; c < kAcross; ++c)
        if (i < count) {
          const float values[kGroup] = {sums.values[i][c]};
          to[i * step + c] = convert(values).elements[0];
        }
  }
}

}  // namespace dali_core
