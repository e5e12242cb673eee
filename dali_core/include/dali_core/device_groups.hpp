// Loops over elements whose types are known when the code is compiled: four neighbours at a time,
// several of such groups on their way together. For device code only.
//
// Bytes become floats, and floats bytes, by way of the bits of floats from 2^23 on, whose last one
// counts ones: conversions have few lanes.
#pragma once

#include <cstdint>
#include <type_traits>

#include "dali_core/device_half.hpp"
#include "dali_core/device_kernel.hpp"
#include "dali_core/device_words.hpp"

namespace dali_core {

// Groups of a thread that are on their way together.
constexpr int kGroupsInFlight = 4;
constexpr float kCountsOnes = 8388608.0f;

// kCountsOnes and byte kNumber of a word.
template <int kNumber>
inline __device__ float counted_byte(uint32_t word) {
  return __uint_as_float(__byte_perm(word, 0x4b000000u, 0x7440 | kNumber));
}

template <int kNumber>
inline __device__ float byte_to_float(uint32_t word) {
  return counted_byte<kNumber>(word) - kCountsOnes;
}

inline __device__ void bytes_to_floats(uint32_t word, float* values) {
  values[0] = byte_to_float<0>(word);
  values[1] = byte_to_float<1>(word);
  values[2] = byte_to_float<2>(word);
  values[3] = byte_to_float<3>(word);
}

// convert<uint8_t>(value) of what rounds to a byte, in the last byte.
inline __device__ uint32_t rounded_byte(float value) {
  return __float_as_uint(__fadd_rz(value + kBelowHalf<float>, kCountsOnes));
}

// convert<uint8_t>(value), in the last byte.
inline __device__ uint32_t float_to_byte(float value) {
  // The greater one of a NaN and a number is the number.
  return rounded_byte(fminf(fmaxf(value, 0.0f), 255.0f));
}

// The last bytes of four words.
inline __device__ ElementGroup<uint8_t> last_bytes(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  const uint32_t low = __byte_perm(a, b, 0x0040), high = __byte_perm(c, d, 0x0040);
  const uint32_t word = __byte_perm(low, high, 0x5410);
  ElementGroup<uint8_t> group;
  std::memcpy(&group, &word, sizeof group);
  return group;
}

// Converts four numbers.
template <typename To>
inline __device__ ElementGroup<To> convert_group(const float (&values)[kGroup]) {
  ElementGroup<To> group;
  if constexpr (std::is_same_v<To, uint8_t>) {
    group = last_bytes(float_to_byte(values[0]), float_to_byte(values[1]), float_to_byte(values[2]),
                       float_to_byte(values[3]));
  } else if constexpr (std::is_same_v<To, Half>) {
    // Whether one is a NaN, which takes long, is asked for all at once: a comparison of two numbers
    // is one instruction.
    const bool first = values[0] <= values[1] || values[0] > values[1];
    const bool second = values[2] <= values[3] || values[2] > values[3];
    const bool are_numbers = first && second;
#pragma unroll
    for (int i = 0; i < kGroup; ++i) group.elements[i] = number_to_half(values[i]);
    if (!are_numbers)
#pragma unroll
      for (int i = 0; i < kGroup; ++i) group.elements[i] = to_half(values[i]);
  } else {
#pragma unroll
    for (int i = 0; i < kGroup; ++i) group.elements[i] = convert<To>(values[i]);
  }
  return group;
}

// Elements in the words that they are in memory.
template <typename T>
struct GroupWords {
  static constexpr int kWords = kGroup * static_cast<int>(sizeof(T)) / 4;
  uint32_t words[kWords];

  inline __device__ ElementGroup<T> elements() const {
    ElementGroup<T> group;
    std::memcpy(&group, words, sizeof group);
    return group;
  }

  inline __device__ void to_floats(float (&values)[kGroup]) const {
    if constexpr (std::is_same_v<T, uint8_t>) {
      bytes_to_floats(words[0], values);
    } else {
      const ElementGroup<T> group = elements();
#pragma unroll
      for (int i = 0; i < kGroup; ++i) {
        if constexpr (std::is_same_v<T, Half>)
          values[i] = half_to_float(group.elements[i]);
        else
          values[i] = convert<float>(group.elements[i]);
      }
    }
  }
};

template <bool kAligned, typename T>
inline __device__ GroupWords<T> load_whole(const T* from) {
  GroupWords<T> group;
  if constexpr (kAligned) {
    const ElementGroup<T> whole = *reinterpret_cast<const ElementGroup<T>*>(from);
    std::memcpy(group.words, &whole, sizeof group);
  } else if constexpr (sizeof(T) < 4) {
    load_words(from, group.words);
  } else {
    ElementGroup<T> whole;
#pragma unroll
    for (int i = 0; i < kGroup; ++i) whole.elements[i] = from[i];
    std::memcpy(group.words, &whole, sizeof group);
  }
  return group;
}

// Where groups that are aligned in the output begin, and how many there are. What is ahead of them
// and behind them goes element by element.
struct GroupRange {
  int64_t ahead;
  int64_t count;

  // An input that is not aligned alike is loaded in words which its first and its last group lie
  // in only partly.
  inline __device__ GroupRange(const void* out, int64_t size, int64_t elements, bool is_aligned) {
    ahead = (kGroup - group_lead(out, size)) % kGroup + (is_aligned ? 0 : kGroup);
    ahead = ahead < elements ? ahead : elements;
    count = (elements - ahead) / kGroup - (is_aligned ? 0 : 1);
    count = count > 0 ? count : 0;
  }
};

template <bool kAligned, typename From, typename To, typename Rule>
inline __device__ void map_whole_groups(const From* in, To* out, int64_t groups, const Rule& rule) {
  const int64_t step = item_step();
  int64_t group = first_item();
  for (; group + (kGroupsInFlight - 1) * step < groups; group += kGroupsInFlight * step) {
    GroupWords<From> loaded[kGroupsInFlight];
#pragma unroll
    for (int k = 0; k < kGroupsInFlight; ++k)
      loaded[k] = load_whole<kAligned>(in + (group + k * step) * kGroup);
#pragma unroll
    for (int k = 0; k < kGroupsInFlight; ++k)
      store_whole(out + (group + k * step) * kGroup, rule(loaded[k]));
  }
#pragma unroll 1
  for (; group < groups; group += step)
    store_whole(out + group * kGroup, rule(load_whole<kAligned>(in + group * kGroup)));
}

// Makes every element of `out` from that of `in`: `rule` makes an ElementGroup<To> of a
// GroupWords<From>.
template <typename From, typename To, typename Rule>
inline __device__ void map_groups(const From* in, To* out, int64_t count, const Rule& rule) {
  const bool is_aligned = is_group_aligned<From>(in, group_lead(out, sizeof(To)));
  const GroupRange range(out, sizeof(To), count, is_aligned);
  const int64_t behind = range.ahead + range.count * kGroup;
  for (int64_t i = first_item(); i < range.ahead + count - behind; i += item_step()) {
    const int64_t number = i < range.ahead ? i : behind + i - range.ahead;
    ElementGroup<From> single{};
    single.elements[0] = in[number];
    GroupWords<From> words;
    std::memcpy(words.words, &single, sizeof single);
    out[number] = rule(words).elements[0];
  }
  if (is_aligned)
    map_whole_groups<true>(in + range.ahead, out + range.ahead, range.count, rule);
  else
    map_whole_groups<false>(in + range.ahead, out + range.ahead, range.count, rule);
}

// The same, where elements are computed with as floats.
template <typename From, typename To, typename Rule>
inline __device__ void map_floats(const void* in, void* out, int64_t count, const Rule& rule) {
  map_groups(static_cast<const From*>(in), static_cast<To*>(out), count,
             [&](const GroupWords<From>& words) {
               float values[kGroup];
               words.to_floats(values);
#pragma unroll
               for (int i = 0; i < kGroup; ++i) values[i] = rule(values[i]);
               return convert_group<To>(values);
             });
}

// Calls `function` with zeros of the two types of usual conversions; false: they are others.
template <typename Function>
inline __device__ bool with_usual_types(DataType from, DataType to, const Function& function) {
  if (from == DataType::kUInt8) {
    if (to == DataType::kUInt8) return function(uint8_t{}, uint8_t{}), true;
    if (to == DataType::kFloat) return function(uint8_t{}, float{}), true;
    if (to == DataType::kFloat16) return function(uint8_t{}, Half{}), true;
  } else if (from == DataType::kFloat) {
    if (to == DataType::kUInt8) return function(float{}, uint8_t{}), true;
    if (to == DataType::kFloat) return function(float{}, float{}), true;
    if (to == DataType::kFloat16) return function(float{}, Half{}), true;
  } else if (from == DataType::kFloat16 && to == DataType::kFloat) {
    return function(Half{}, float{}), true;
  }
  return false;
}

}  // namespace dali_core
