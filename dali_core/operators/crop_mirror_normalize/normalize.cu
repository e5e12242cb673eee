// Crops, mirrors, normalises and reorders images: fn.crop_mirror_normalize on a device.
#include "dali_core/device_kernel.hpp"
#include "dali_core/operators/crop_mirror_normalize/crop_mirror_normalize.hpp"
#include "dali_core/operators/crop_mirror_normalize/normalize_sample.hpp"

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

// Makes one channel of a pixel. `in` is negative beside the image.
template <typename To, typename From>
inline __device__ void make_channel(const NormalizeSample& sample, int64_t c, int64_t in,
                                    int64_t out) {
  const FinishedChannel& channel = sample.channels[c];
  const int64_t to = out + c * sample.output_channel_stride;
  if (in >= 0 && c < sample.input_channels) {
    const float value = load<From>(sample.input, in + c * sample.input_channel_stride, sample.from);
    store<To>(sample.output, to, sample.to, normalize(value, {channel.mean, channel.multiplier}));
  } else {
    store_bits(sample.output, to, size_of(sample.to), in < 0 ? channel.outside : channel.added);
  }
}

// A thread makes all channels of a pixel, and its neighbour the pixel beside it.
template <typename To, typename From>
inline __device__ void normalize_pixels(const NormalizeSample& sample) {
  const bool is_rgb = sample.output_channels == 3;
  for (int64_t item = first_item(); item < sample.num_pixels; item += item_step()) {
    int64_t row = quotient(item, sample.columns.extent);
    const int64_t x = item - row * sample.columns.extent;
    const int64_t column = sample.columns.source(x);
    bool is_inside = sample.columns.has(column);
    int64_t in = column * sample.columns.stride;
    int64_t out = x * sample.column_stride;
    for (int i = sample.num_outer - 1; i >= 0; --i) {
      const WindowAxis& axis = sample.outer[i];
      const int64_t next = i == 0 ? 0 : quotient(row, axis.extent);
      const int64_t position = row - next * axis.extent;
      const int64_t source = axis.source(position);
      is_inside = is_inside && axis.has(source);
      in += source * axis.stride;
      out += position * sample.outer_strides[i];
      row = next;
    }
    if (!is_inside) in = -1;
    if (is_rgb) {
#pragma unroll
      for (int c = 0; c < 3; ++c) make_channel<To, From>(sample, c, in, out);
    } else {
      for (int64_t c = 0; c < sample.output_channels; ++c)
        make_channel<To, From>(sample, c, in, out);
    }
  }
}

}  // namespace

extern "C" __global__ void normalize_images(const NormalizeSample* samples, int64_t num_samples) {
  const int64_t number = sample_of_block();
  if (number >= num_samples) return;
  const NormalizeSample& sample = samples[number];
  const bool from_bytes = sample.from == DataType::kUInt8;
  if (from_bytes && sample.to == DataType::kFloat)
    normalize_pixels<float, uint8_t>(sample);
  else if (from_bytes && sample.to == DataType::kFloat16)
    normalize_pixels<Half, uint8_t>(sample);
  else if (sample.from == DataType::kFloat && sample.to == DataType::kFloat)
    normalize_pixels<float, float>(sample);
  else
    normalize_pixels<AnyType, AnyType>(sample);
}

}  // namespace dali_core
