// Crops, mirrors, normalises and reorders images: fn.crop_mirror_normalize on a device.
#include "dali_core/device_kernel.hpp"
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

// Where a pixel comes from and where it goes, as offsets of its first channel.
struct PixelPlace {
  int64_t in;  // negative beside the image
  int64_t out;

  __device__ PixelPlace(const NormalizeSample& sample, int64_t item) {
    int64_t row = quotient(item, sample.columns.extent);
    const int64_t x = item - row * sample.columns.extent;
    const int64_t column = sample.columns.source(x);
    bool is_inside = sample.columns.has(column);
    in = column * sample.columns.stride;
    out = x * sample.column_stride;
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
  }
};

template <typename To, typename From>
inline __device__ void normalize_pixels(const NormalizeSample& sample) {
  for (int64_t item = first_item(); item < sample.num_pixels; item += item_step()) {
    const PixelPlace place(sample, item);
    for (int64_t c = 0; c < sample.output_channels; ++c) {
      const FinishedChannel& channel = sample.channels[c];
      const int64_t to = place.out + c * sample.output_channel_stride;
      if (place.in >= 0 && c < sample.input_channels)
        store<To>(sample.output, to, sample.to,
                  normalize(load<From>(sample.input, place.in + c * sample.input_channel_stride,
                                       sample.from),
                            {channel.mean, channel.multiplier}));
      else
        store_bits(sample.output, to, size_of(sample.to),
                   place.in < 0 ? channel.outside : channel.added);
    }
  }
}

// The same for three channels, whose parameters stay in registers.
template <typename To, typename From>
inline __device__ void normalize_rgb(const NormalizeSample& sample) {
  const void* const input = sample.input;
  void* const output = sample.output;
  const int64_t num_pixels = sample.num_pixels;
  const int64_t from_stride = sample.input_channel_stride;
  const int64_t to_stride = sample.output_channel_stride;
  const DataType from = sample.from;
  const DataType to = sample.to;
  ChannelNormalization rules[3];
#pragma unroll
  for (int c = 0; c < 3; ++c) rules[c] = {sample.channels[c].mean, sample.channels[c].multiplier};
  for (int64_t item = first_item(); item < num_pixels; item += item_step()) {
    const PixelPlace place(sample, item);
    if (place.in < 0) {
      for (int c = 0; c < 3; ++c)
        store_bits(output, place.out + c * to_stride, size_of(to), sample.channels[c].outside);
      continue;
    }
    float values[3];
#pragma unroll
    for (int c = 0; c < 3; ++c) values[c] = load<From>(input, place.in + c * from_stride, from);
#pragma unroll
    for (int c = 0; c < 3; ++c)
      store<To>(output, place.out + c * to_stride, to, normalize(values[c], rules[c]));
  }
}

// A thread makes all channels of a pixel, and its neighbour the pixel beside it.
template <typename To, typename From>
inline __device__ void normalize_image(const NormalizeSample& sample) {
  if (sample.input_channels == 3 && sample.output_channels == 3)
    normalize_rgb<To, From>(sample);
  else
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
