// Resampling on a device: rows are blended into rows in between, whose columns make pixels, which
// are normalised if there is a finish. Sums have the order and the rounding of the host.
#include "dali_core/device_kernel.hpp"
#include "dali_core/device_words.hpp"
#include "dali_core/kernels/normalize/crop_mirror_normalize.hpp"
#include "dali_core/kernels/resample/resample_pixel.hpp"
#include "dali_core/kernels/resample/resample_sample.hpp"

namespace dali_core {
namespace {

// What sums of floats begin with: 0 would make 0 of -0.
constexpr float kZero = -0.0f;

// A thread blends this many contiguous elements: 16 in fixed point.
constexpr int kBlended = 4;
constexpr int kBlendedWords = 4;
// And makes so many pixels of usual images.
constexpr int kPixels = 4;
constexpr int kGatherThreads = 256;  // of a block

template <typename T>
struct alignas(kBlended * sizeof(T)) Blended {
  T values[kBlended];
};

struct alignas(16) FixedBlended {
  ElementGroup<uint32_t> halves[2];
};

// Stands for types that are known when the kernel runs.
struct AnyType {};

inline __device__ const char* image_at(const ResampleSample& sample, int64_t number) {
  const int64_t volume = quotient(number, sample.by_depth);
  const int64_t place = number - volume * sample.depth;
  const int64_t slice = sample.slices ? sample.slices[place] : place;
  return static_cast<const char*>(sample.input) + volume * sample.volume_bytes +
         slice * sample.slice_bytes;
}

// Elements `first` and following of a row; those behind its end repeat the last one.
template <typename From>
inline __device__ void load_elements(const char* row, int64_t first, int64_t count, DataType type,
                                     float (&values)[kBlended]) {
#pragma unroll
  for (int i = 0; i < kBlended; ++i) {
    const int64_t element = first + i < count ? first + i : count - 1;
    if constexpr (std::is_same_v<From, AnyType>)
      values[i] = load_element(row, element, type);
    else
      values[i] = convert<float>(reinterpret_cast<const From*>(row)[element]);
  }
}

// Bytes at the end of a row or of the input.
__device__ __noinline__ uint32_t load_last_bytes(const char* row, int64_t first, int64_t count) {
  const uint8_t* const from = reinterpret_cast<const uint8_t*>(row);
  uint32_t word = 0;
  for (int i = 0; i < 4; ++i)
    word |= uint32_t{from[first + i < count ? first + i : count - 1]} << (8 * i);
  return word;
}

inline __device__ void load_bytes(const char* row, int64_t first, int64_t count,
                                  const ByteRange& memory, uint32_t (&words)[kBlendedWords]) {
  if (first + 4 * kBlendedWords <= count && memory.has_words(row + first, 4 * kBlendedWords)) {
    load_words(row + first, words);
    return;
  }
#pragma unroll
  for (int i = 0; i < kBlendedWords; ++i) words[i] = load_last_bytes(row, first + 4 * i, count);
}

// kTaps is the number of rows, or 0 where that is not known.
template <int kTaps>
inline __device__ FixedBlended blend_fixed(const ResampleSample& sample, const ByteRange& memory,
                                           const char* row, int64_t first, int64_t count,
                                           int64_t y) {
  const int16_t* weights = static_cast<const int16_t*>(sample.rows.weights) + y;
  const int taps = kTaps ? kTaps : sample.rows.num_taps;
  int32_t sums[4 * kBlendedWords] = {};
#pragma unroll
  for (int k = 0; k < taps; ++k, row += sample.row_bytes, weights += sample.height) {
    const int32_t weight = *weights;
    uint32_t words[kBlendedWords];
    load_bytes(row, first, count, memory, words);
#pragma unroll
    for (int i = 0; i < 4 * kBlendedWords; ++i)
      sums[i] += weighted_byte(static_cast<int32_t>(byte_of(words, i)), weight);
  }
  FixedBlended blended;
#pragma unroll
  for (int i = 0; i < 2 * kBlendedWords; ++i)
    blended.halves[i / 4].elements[i % 4] = __byte_perm(
        static_cast<uint32_t>(sums[2 * i]), static_cast<uint32_t>(sums[2 * i + 1]), 0x5410);
  return blended;
}

inline __device__ void store_blended(Blended<float>* to, const Blended<float>& blended) {
  *to = blended;
}
inline __device__ void store_blended(FixedBlended* to, const FixedBlended& blended) {
#pragma unroll
  for (int i = 0; i < 2; ++i)
    store_whole(reinterpret_cast<uint32_t*>(to->halves + i), blended.halves[i]);
}

template <typename From>
inline __device__ Blended<float> blend_float(const ResampleSample& sample, const char* row,
                                             int64_t first, int64_t count, int64_t y) {
  const float* const weights = static_cast<const float*>(sample.rows.weights) + y;
  Blended<float> blended{{kZero, kZero, kZero, kZero}};
  for (int k = 0; k < sample.rows.num_taps; ++k, row += sample.row_bytes) {
    const float weight = weights[k * sample.height];
    float values[kBlended];
    load_elements<From>(row, first, count, sample.from, values);
#pragma unroll
    for (int i = 0; i < kBlended; ++i) blended.values[i] += values[i] * weight;
  }
  return blended;
}

// Blends rows of all images by `blend(row, first, count, y)`.
template <typename T, int kTogether, typename Blend>
inline __device__ void blend_rows(const ResampleSample& sample, const Blend& blend) {
  const int64_t count = sample.num_columns * sample.channels;
  const QuickDivisor by_groups = sample.by_blended;
  const int64_t height = sample.height;
  const int64_t row_bytes = sample.row_bytes;
  const int32_t* const starts = sample.rows.starts;
  const bool is_single = sample.num_images == 1;
  const char* const only = image_at(sample, 0);
  T* const blended = static_cast<T*>(sample.blended);
  const int64_t offset = sample.first_column * sample.channels * size_of(sample.from);
  const int64_t num_items = sample.num_images * height * by_groups.divisor;
  for (int64_t item = first_item(); item < num_items; item += item_step()) {
    const int64_t line = quotient(item, by_groups);
    const int64_t group = item - line * by_groups.divisor;
    const int64_t image = is_single ? 0 : quotient(line, sample.by_height);
    const int64_t y = line - image * height;
    const char* const row =
        (is_single ? only : image_at(sample, image)) + starts[y] * row_bytes + offset;
    store_blended(blended + item, blend(row, group * kTogether, count, y));
  }
}

// Takes a pixel's channel to the output, in the type of resampled images.
inline __device__ void store_resampled(void* to, int64_t index, DataType type, float value) {
  if (type == DataType::kFloat) {
    static_cast<float*>(to)[index] = value;
    return;
  }
  with_type(type, [&](auto zero) {
    using To = decltype(zero);
    static_cast<To*>(to)[index] = round_resampled<To>(value);
  });
}

// The value that a later step sees.
inline __device__ float seen_as(DataType type, float value) {
  if (type == DataType::kFloat) return value;
  float seen = 0;
  with_type(type,
            [&](auto zero) { seen = convert<float>(round_resampled<decltype(zero)>(value)); });
  return seen;
}

inline __device__ void finish_channel(const ResampleSample& sample, int64_t c, int64_t index,
                                      float value) {
  const FinishedChannel& channel = sample.finish[c];
  store_element(sample.output, index, sample.to,
                normalize(value, {channel.mean, channel.multiplier}));
}

inline __device__ void finish_pixel(const ResampleSample& sample, int64_t c, int64_t index,
                                    float value) {
  if (sample.finish)
    finish_channel(sample, c, index, seen_as(sample.resampled, value));
  else
    store_resampled(sample.output, index, sample.to, value);
}

inline __device__ void finish_pixel(const ResampleSample& sample, int64_t c, int64_t index,
                                    int32_t sum) {
  const uint8_t value = fixed_pixel(sum);
  if (sample.finish)
    finish_channel(sample, c, index, value);
  else
    static_cast<uint8_t*>(sample.output)[index] = value;
}

inline __device__ void add_channels(const ResampleSample& sample, int64_t index) {
  for (int64_t c = sample.channels; c < sample.output_channels; ++c)
    store_bits(sample.output, index + c * sample.channel_stride, size_of(sample.to),
               sample.finish[c].added);
}

inline __device__ float product_of(float value, float weight) { return value * weight; }
inline __device__ int32_t product_of(int16_t value, int16_t weight) {
  return int32_t{value} * weight;
}

// Makes channels [first, first + kChannels) of a pixel.
template <int kChannels, typename T, typename Sum>
inline __device__ void gather_channels(const ResampleSample& sample, const T* from, int64_t x,
                                       int64_t first, int64_t index, Sum zero) {
  const T* weights = static_cast<const T*>(sample.columns.weights) + x;
  Sum sums[kChannels];
#pragma unroll
  for (int c = 0; c < kChannels; ++c) sums[c] = zero;
  from += first;
  for (int k = 0; k < sample.columns.num_taps; ++k) {
    const T weight = *weights;
#pragma unroll
    for (int c = 0; c < kChannels; ++c) sums[c] += product_of(from[c], weight);
    weights += sample.width;
    from += sample.channels;
  }
#pragma unroll
  for (int c = 0; c < kChannels; ++c)
    finish_pixel(sample, first + c, index + (first + c) * sample.channel_stride, sums[c]);
}

struct PixelPlace {
  int64_t image, y, x;
  int64_t line;   // of all rows of all images
  int64_t index;  // in the output

  __device__ PixelPlace(const ResampleSample& sample, int64_t item) {
    line = quotient(item, sample.by_width);
    x = item - line * sample.width;
    image = sample.num_images == 1 ? 0 : quotient(line, sample.by_height);
    y = line - image * sample.height;
    index = image * sample.image_stride + y * sample.row_stride + x * sample.column_stride;
  }
};

// A thread makes a pixel, and its neighbour the pixel beside it.
template <typename T, typename Sum>
inline __device__ void gather_columns(const ResampleSample& sample, Sum zero) {
  const int64_t num_items = sample.num_images * sample.height * sample.width;
  for (int64_t item = first_item(); item < num_items; item += item_step()) {
    const PixelPlace place(sample, item);
    const T* const from = static_cast<const T*>(sample.blended) +
                          place.line * sample.blended_stride +
                          sample.columns.starts[place.x] * sample.channels;
    if (sample.channels == 3) {
      gather_channels<3>(sample, from, place.x, 0, place.index, zero);
    } else {
      for (int64_t c = 0; c < sample.channels; ++c)
        gather_channels<1>(sample, from, place.x, c, place.index, zero);
    }
    add_channels(sample, place.index);
  }
}

inline __device__ int64_t num_pixel_groups(const ResampleSample& sample) {
  return sample.num_images * sample.height * sample.by_pixel_groups.divisor;
}

// Whether pixels are three bytes that follow each other, as they are, and not too many for numbers
// of 32 bits.
inline __device__ bool makes_rgb_bytes(const ResampleSample& sample) {
  const int64_t blended = sample.num_images * sample.height * sample.blended_stride;
  return num_pixel_groups(sample) < kQuickLimit && blended < kQuickLimit && sample.channels == 3 &&
         sample.finish == nullptr && sample.to == DataType::kUInt8 && sample.column_stride == 3 &&
         sample.channel_stride == 1;
}

// Such pixels, four a thread. kTaps is the number of columns, or 0 where that is not known.
//
// A thread sums up every 32nd pixel of its warp, so that loads are coalesced, and stores four that
// follow each other, which are in `stage` in between.
template <int kTaps>
inline __device__ void gather_rgb_bytes(const ResampleSample& sample, uint32_t* stage) {
  const QuickDivisor by_groups = sample.by_pixel_groups, by_height = sample.by_height;
  const auto num_groups = static_cast<uint32_t>(by_groups.divisor);
  const auto height = static_cast<uint32_t>(sample.height);
  const auto width = static_cast<uint32_t>(sample.width);
  const auto blended_stride = static_cast<uint32_t>(sample.blended_stride);
  const int64_t image_stride = sample.image_stride;
  const int64_t row_stride = sample.row_stride;
  const bool is_single = sample.num_images == 1;
  const int taps = kTaps ? kTaps : sample.columns.num_taps;
  const int32_t* const starts = sample.columns.starts;
  const int16_t* const weights = static_cast<const int16_t*>(sample.columns.weights);
  const int16_t* const blended = static_cast<const int16_t*>(sample.blended);
  uint8_t* const output = static_cast<uint8_t*>(sample.output);
  const auto num_items = static_cast<uint32_t>(num_pixel_groups(sample));
  const uint32_t last_line = num_items / num_groups - 1;
  const auto step = static_cast<uint32_t>(item_step());  // less than 2^31, as are the items
  const uint32_t lane = threadIdx.x % 32;
  uint8_t* const staged = reinterpret_cast<uint8_t*>(stage);
  for (uint32_t begin = static_cast<uint32_t>(first_item()) - lane; begin < num_items;
       begin += step) {
    uint32_t from[kPixels];
    uint32_t columns[kPixels];
    int32_t sums[kPixels][3];
    uint32_t line = small_quotient(begin + lane / kPixels, by_groups);
    uint32_t group = begin + lane / kPixels - line * num_groups;
#pragma unroll
    for (int i = 0; i < kPixels; ++i) {
      // What is not there is made of the last ones, and is not kept.
      columns[i] = min(group * kPixels + lane % kPixels, width - 1);
      from[i] = min(line, last_line) * blended_stride +
                static_cast<uint32_t>(__ldg(starts + columns[i])) * 3;
      group += 32 / kPixels;
      if (group >= num_groups) {
        const uint32_t passed = small_quotient(group, by_groups);
        line += passed;
        group -= passed * num_groups;
      }
#pragma unroll
      for (int c = 0; c < 3; ++c) sums[i][c] = fixed_half();
    }
#pragma unroll
    for (int k = 0; k < taps; ++k) {
#pragma unroll
      for (int i = 0; i < kPixels; ++i) {
        const int32_t weight = __ldg(weights + (k * width + columns[i]));
        const int16_t* const pixel = blended + from[i];
#pragma unroll
        for (int c = 0; c < 3; ++c) sums[i][c] += int32_t{__ldg(pixel + 3 * k + c)} * weight;
      }
    }
#pragma unroll
    for (int i = 0; i < kPixels; ++i)
#pragma unroll
      for (int c = 0; c < 3; ++c) staged[3 * (lane + 32 * i) + c] = fixed_pixel(sums[i][c]);
    __syncwarp();
    const uint32_t item = begin + lane;
    if (item < num_items) {
      const uint32_t line = small_quotient(item, by_groups);
      const uint32_t first = (item - line * num_groups) * kPixels;
      const uint32_t image = is_single ? 0 : small_quotient(line, by_height);
      const uint32_t y = line - image * height;
      uint8_t* const out = output + image * image_stride + y * row_stride + int64_t{first} * 3;
      const uint32_t count = min(width - first, uint32_t{kPixels});
      if (count == kPixels && reinterpret_cast<uintptr_t>(out) % 4 == 0) {
        // Apart from each other, since a row begins at any word.
#pragma unroll
        for (int k = 0; k < 3; ++k) {
          ElementGroup<uint8_t> group;
          std::memcpy(&group, stage + 3 * lane + k, sizeof group);
          store_whole(out + k * kGroup, group);
        }
      } else {
#pragma unroll 1
        for (uint32_t i = 0; i < 3 * count; ++i) out[i] = staged[3 * kPixels * lane + i];
      }
    }
    __syncwarp();
  }
}

template <typename T>
inline __device__ void copy_channels(const ResampleSample& sample, const char* from,
                                     int64_t index) {
  for (int64_t c = 0; c < sample.channels; ++c)
    static_cast<T*>(sample.output)[index + c * sample.channel_stride] =
        reinterpret_cast<const T*>(from)[c];
}

}  // namespace

// Blends input rows, first of two passes.
extern "C" __global__ void __launch_bounds__(256, 4)
    blend_image_rows(const ResampleSample* samples, int64_t num_samples) {
  const int64_t number = sample_of_block();
  if (number >= num_samples) return;
  const ResampleSample& sample = samples[number];
  if (sample.arithmetic == ResampleArithmetic::kCopy) return;
  const ByteRange memory(sample.memory, sample.memory_bytes);
  if (sample.arithmetic == ResampleArithmetic::kFixed && sample.rows.num_taps == 2)
    blend_rows<FixedBlended, 4 * kBlendedWords>(
        sample, [&](const char* row, int64_t first, int64_t count, int64_t y) {
          return blend_fixed<2>(sample, memory, row, first, count, y);
        });
  else if (sample.arithmetic == ResampleArithmetic::kFixed)
    blend_rows<FixedBlended, 4 * kBlendedWords>(
        sample, [&](const char* row, int64_t first, int64_t count, int64_t y) {
          return blend_fixed<0>(sample, memory, row, first, count, y);
        });
  else if (sample.from == DataType::kUInt8)
    blend_rows<Blended<float>, kBlended>(
        sample, [&](const char* row, int64_t first, int64_t count, int64_t y) {
          return blend_float<uint8_t>(sample, row, first, count, y);
        });
  else if (sample.from == DataType::kFloat)
    blend_rows<Blended<float>, kBlended>(
        sample, [&](const char* row, int64_t first, int64_t count, int64_t y) {
          return blend_float<float>(sample, row, first, count, y);
        });
  else
    blend_rows<Blended<float>, kBlended>(
        sample, [&](const char* row, int64_t first, int64_t count, int64_t y) {
          return blend_float<AnyType>(sample, row, first, count, y);
        });
}

// Makes pixels of blended rows, second of two passes.
extern "C" __global__ void gather_image_columns(const ResampleSample* samples,
                                                int64_t num_samples) {
  __shared__ uint32_t stages[kGatherThreads * 3];
  const int64_t number = sample_of_block();
  if (number >= num_samples) return;
  const ResampleSample& sample = samples[number];
  uint32_t* const stage = stages + threadIdx.x / 32 * (32 * 3);
  if (sample.arithmetic == ResampleArithmetic::kFixed && makes_rgb_bytes(sample))
    sample.columns.num_taps == 2 ? gather_rgb_bytes<2>(sample, stage)
                                 : gather_rgb_bytes<0>(sample, stage);
  else if (sample.arithmetic == ResampleArithmetic::kFixed)
    gather_columns<int16_t>(sample, fixed_half());
  else if (sample.arithmetic == ResampleArithmetic::kFloat)
    gather_columns<float>(sample, kZero);
}

// Makes each pixel from one pixel.
extern "C" __global__ void copy_image_pixels(const ResampleSample* samples, int64_t num_samples) {
  const int64_t number = sample_of_block();
  if (number >= num_samples) return;
  const ResampleSample& sample = samples[number];
  if (sample.arithmetic != ResampleArithmetic::kCopy) return;
  const int64_t bytes = size_of(sample.from);
  const int64_t num_items = sample.num_images * sample.height * sample.width;
  for (int64_t item = first_item(); item < num_items; item += item_step()) {
    const PixelPlace place(sample, item);
    const int64_t column = sample.first_column + sample.columns.starts[place.x];
    const char* const from = image_at(sample, place.image) +
                             sample.rows.starts[place.y] * sample.row_bytes +
                             column * sample.channels * bytes;
    if (sample.finish) {
      for (int64_t c = 0; c < sample.channels; ++c)
        finish_channel(sample, c, place.index + c * sample.channel_stride,
                       load_element(from, c, sample.from));
      add_channels(sample, place.index);
    } else if (sample.from != sample.to) {
      for (int64_t c = 0; c < sample.channels; ++c)
        store_element(sample.output, place.index + c * sample.channel_stride, sample.to,
                      load_element(from, c, sample.from));
    } else if (bytes == 1) {
      copy_channels<uint8_t>(sample, from, place.index);
    } else if (bytes == 2) {
      copy_channels<uint16_t>(sample, from, place.index);
    } else if (bytes == 4) {
      copy_channels<uint32_t>(sample, from, place.index);
    } else {
      copy_channels<uint64_t>(sample, from, place.index);
    }
  }
}

// Blends the slices of volumes.
extern "C" __global__ void blend_slices(const DepthSample* samples, int64_t num_samples) {
  const int64_t number = sample_of_block();
  if (number >= num_samples) return;
  const DepthSample& sample = samples[number];
  const int64_t num_items = sample.num_volumes * sample.depth * sample.slice;
  for (int64_t item = first_item(); item < num_items; item += item_step()) {
    const int64_t slice = quotient(item, sample.slice);
    const int64_t volume = quotient(slice, sample.depth);
    const int64_t z = slice - volume * sample.depth;
    const float* const weights = static_cast<const float*>(sample.taps.weights) + z;
    int64_t from = (volume * sample.input_depth + sample.taps.starts[z]) * sample.slice +
                   (item - slice * sample.slice);
    float sum = load_element(sample.input, from, sample.from) * weights[0];
    for (int k = 1; k < sample.taps.num_taps; ++k) {
      from += sample.slice;
      sum += load_element(sample.input, from, sample.from) * weights[k * sample.depth];
    }
    sample.output[item] = sum;
  }
}

}  // namespace dali_core
