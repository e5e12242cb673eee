// Crops, mirrors, normalises and reorders images: fn.crop_mirror_normalize on a device.
#include "dali_core/device_groups.hpp"
#include "dali_core/kernels/normalize/crop_mirror_normalize.hpp"
#include "dali_core/kernels/normalize/normalize_sample.hpp"

namespace dali_core {
namespace {

// Stands for types that are known when the kernel runs.
struct AnyType {};

template <typename From>
inline __device__ float load(const void* from, int64_t index, DataType type) {
  if constexpr (std::is_same_v<From, AnyType>)
    return load_element(from, index, type);
  else
    return convert<float>(static_cast<const From*>(from)[index]);
}

template <typename To>
inline __device__ void store(void* to, int64_t index, DataType type, float value) {
  if constexpr (std::is_same_v<To, AnyType>)
    store_element(to, index, type, value);
  else
    static_cast<To*>(to)[index] = convert<To>(value);
}

// Where a row comes from and where it goes: offsets of its first pixel, or -1 beside the image.
struct RowPlace {
  int64_t in = 0;
  int64_t out = 0;

  inline __device__ RowPlace(const WindowAxis& axis, int64_t stride, int64_t row) {
    const int64_t source = axis.source(row);
    in = axis.has(source) ? source * axis.stride : -1;
    out = row * stride;
  }

  __device__ __noinline__ RowPlace(const NormalizeSample& sample, int64_t row) {
    bool is_inside = true;
    for (int i = sample.num_outer - 1; i >= 0; --i) {
      const WindowAxis& axis = sample.outer[i];
      const int64_t next = i == 0 ? 0 : quotient(row, sample.outer_extents[i]);
      const int64_t position = row - next * axis.extent;
      const int64_t source = axis.source(position);
      is_inside = is_inside && axis.has(source);
      in += source * axis.stride;
      out += position * sample.outer_strides[i];
      row = next;
    }
    if (!is_inside) in = -1;
  }
};

// All channels of a pixel.
template <typename To, typename From>
__device__ __noinline__ void normalize_pixel(const NormalizeSample& sample, int64_t row,
                                             int64_t x) {
  const RowPlace place(sample, row);
  const int64_t column = sample.columns.source(x);
  const bool is_inside = place.in >= 0 && sample.columns.has(column);
  const int64_t in = place.in + column * sample.columns.stride;
  const int64_t out = place.out + x * sample.column_stride;
  for (int64_t c = 0; c < sample.output_channels; ++c) {
    const FinishedChannel& channel = sample.channels[c];
    const int64_t to = out + c * sample.output_channel_stride;
    if (is_inside && c < sample.input_channels)
      store<To>(
          sample.output, to, sample.to,
          normalize(load<From>(sample.input, in + c * sample.input_channel_stride, sample.from),
                    {channel.mean, channel.multiplier}));
    else
      store_bits(sample.output, to, size_of(sample.to),
                 is_inside ? channel.added : channel.outside);
  }
}

// A thread makes a pixel, and its neighbour the pixel beside it.
template <typename To, typename From>
inline __device__ void normalize_pixels(const NormalizeSample& sample) {
  for (int64_t item = first_item(); item < sample.num_pixels; item += item_step()) {
    const int64_t row = quotient(item, sample.columns.extent);
    normalize_pixel<To, From>(sample, row, item - row * sample.columns.extent);
  }
}

// Four pixels, whose channels follow each other in the input.
template <typename From>
inline __device__ bool load_pixels(const From* from, const ByteRange& input,
                                   float (&values)[3 * kGroup]) {
  if constexpr (sizeof(From) == 1) {
    if (!input.has_words(from, 3 * kGroup)) return false;
    uint32_t words[3];
    load_words(from, words);
#pragma unroll
    for (int k = 0; k < 3; ++k) bytes_to_floats(words[k], values + k * kGroup);
  } else {
#pragma unroll
    for (int i = 0; i < 3 * kGroup; ++i) values[i] = convert<float>(from[i]);
  }
  return true;
}

// Three groups, `stride` elements from each other.
template <typename To>
inline __device__ void store_groups(To* to, int64_t stride, const ElementGroup<To> (&groups)[3]) {
  constexpr uintptr_t kAlignment = alignof(ElementGroup<To>);
  const uintptr_t places =
      reinterpret_cast<uintptr_t>(to) | (static_cast<uintptr_t>(stride) * sizeof(To));
  if (places % kAlignment == 0) {
#pragma unroll
    for (int k = 0; k < 3; ++k) store_whole(to + k * stride, groups[k]);
  } else {
#pragma unroll
    for (int k = 0; k < 3; ++k)
#pragma unroll
      for (int i = 0; i < kGroup; ++i) to[k * stride + i] = groups[k].elements[i];
  }
}

// Pixels of three channels that are next to each other, four a thread at a time. The parameters
// stay in registers.
template <typename To, typename From>
inline __device__ void normalize_rgb(const NormalizeSample& sample) {
  const From* const input = static_cast<const From*>(sample.input);
  To* const output = static_cast<To*>(sample.output);
  const ByteRange memory(input, sample.input_bytes);
  const WindowAxis columns = sample.columns;
  const QuickDivisor groups = sample.groups;
  const WindowAxis rows = sample.outer[sample.num_outer - 1];
  const int64_t row_stride = sample.outer_strides[sample.num_outer - 1];
  const bool has_frames = sample.num_outer > 1;
  const int64_t column_stride = sample.column_stride;
  const bool is_planar = column_stride == 1;
  const int64_t group_stride = is_planar ? sample.output_channel_stride : kGroup;
  ChannelNormalization rules[3];
#pragma unroll
  for (int c = 0; c < 3; ++c) rules[c] = {sample.channels[c].mean, sample.channels[c].multiplier};
  const int64_t num_items = sample.rows * groups.divisor;
  for (int64_t item = first_item(); item < num_items; item += item_step()) {
    const int64_t row = quotient(item, groups);
    const int64_t x = (item - row * groups.divisor) * kGroup;
    const RowPlace place = has_frames ? RowPlace(sample, row) : RowPlace(rows, row_stride, row);
    const int64_t first = columns.source(x);
    const int64_t last = columns.source(x + kGroup - 1);
    const int64_t left = columns.mirrored ? last : first;
    float values[3 * kGroup];
    if (place.in < 0 || x + kGroup > columns.extent || !columns.has(first) || !columns.has(last) ||
        !load_pixels(input + place.in + left * 3, memory, values)) {
      const int64_t end = x + kGroup < columns.extent ? x + kGroup : columns.extent;
      for (int64_t i = x; i < end; ++i) normalize_pixel<To, From>(sample, row, i);
      continue;
    }
    float results[3][kGroup];
#pragma unroll
    for (int i = 0; i < 3 * kGroup; ++i) {
      const int c = i % 3;
      const float value = values[columns.mirrored ? 3 * (kGroup - 1 - i / 3) + c : i];
      const float result = normalize(value, rules[c]);
      if (is_planar)
        results[c][i / 3] = result;
      else
        results[i / kGroup][i % kGroup] = result;
    }
    ElementGroup<To> converted[3];
#pragma unroll
    for (int k = 0; k < 3; ++k) converted[k] = convert_group<To>(results[k]);
    store_groups(output + place.out + x * column_stride, group_stride, converted);
  }
}

template <typename To, typename From>
inline __device__ void normalize_image(const NormalizeSample& sample) {
  if constexpr (!std::is_same_v<From, AnyType>) {
    const bool is_rgb = sample.input_channels == 3 && sample.output_channels == 3 &&
                        sample.input_channel_stride == 1 && sample.columns.stride == 3;
    const bool is_dense = sample.column_stride == 1 ||
                          (sample.column_stride == 3 && sample.output_channel_stride == 1);
    if (is_rgb && is_dense && sample.num_outer > 0) return normalize_rgb<To, From>(sample);
  }
  normalize_pixels<To, From>(sample);
}

}  // namespace

extern "C" __global__ void normalize_images(const NormalizeSample* samples, int64_t num_samples) {
  const int64_t number = sample_of_block();
  if (number >= num_samples) return;
  const NormalizeSample& sample = samples[number];
  const bool from_bytes = sample.from == DataType::kUInt8;
  if (from_bytes && sample.to == DataType::kFloat)
    normalize_image<float, uint8_t>(sample);
  else if (from_bytes && sample.to == DataType::kFloat16)
    normalize_image<Half, uint8_t>(sample);
  else if (sample.from == DataType::kFloat && sample.to == DataType::kFloat)
    normalize_image<float, float>(sample);
  else
    normalize_image<AnyType, AnyType>(sample);
}

}  // namespace dali_core
