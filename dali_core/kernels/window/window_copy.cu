// Copies of windows, with mirrors and padding: what fn.crop, fn.slice and fn.flip do on a device.
#include "dali_core/device_kernel.hpp"
#include "dali_core/kernels/window/window_copy_sample.hpp"

namespace dali_core {
namespace {

// Position in the input along one axis, or -1.
__device__ __noinline__ int64_t repeated_position(const WindowAxis& axis, int64_t position,
                                                  OutOfBounds policy) {
  return repeated_source(axis.source(position), axis.source_extent, policy);
}

inline __device__ int64_t source_position(const WindowAxis& axis, int64_t position,
                                          OutOfBounds policy) {
  const int64_t source = axis.source(position);
  if (axis.has(source)) return source;
  return repeats_input(policy) ? repeated_position(axis, position, policy) : -1;
}

// Where the elements of the output that differ in the last axis only come from: an offset in the
// input, or -1.
__device__ __noinline__ int64_t find_line(const WindowCopySample& sample, int64_t number) {
  int64_t base = 0;
  for (int i = sample.num_axes - 2; i >= 0; --i) {
    const WindowAxis& axis = sample.axes[i];
    const int64_t next = quotient(number, axis.extent);
    const int64_t source = source_position(axis, number - next * axis.extent, sample.policy);
    if (source < 0) return -1;
    base += source * axis.stride;
    number = next;
  }
  return base;
}

// An element of the output.
struct Place {
  int64_t line, position, inner;

  __device__ Place(const WindowCopySample& sample, int64_t element) {
    const int64_t extent = sample.axes[sample.num_axes - 1].extent;
    const int64_t pixel = sample.inner == 1 ? element : quotient(element, sample.inner);
    inner = element - pixel * sample.inner;
    line = quotient(pixel, extent);
    position = pixel - line * extent;
  }
};

// Its offset in the input, or -1.
__device__ __noinline__ int64_t find_element(const WindowCopySample& sample, int64_t element) {
  const WindowAxis& last = sample.axes[sample.num_axes - 1];
  const Place place(sample, element);
  const int64_t base = find_line(sample, place.line);
  const int64_t source = source_position(last, place.position, sample.policy);
  return base < 0 || source < 0 ? -1 : base + source * last.stride + place.inner;
}

__device__ __noinline__ uint64_t fill_of(const WindowCopySample& sample, int64_t element) {
  return sample.fill[sample.num_fill == 1 ? 0 : element / sample.channel_stride % sample.num_fill];
}

// Elements one by one, wherever they come from.
template <typename Element>
__device__ __noinline__ void copy_elements(const WindowCopySample& sample, int64_t begin,
                                           int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t offset = find_element(sample, i);
    static_cast<Element*>(sample.output)[i] =
        offset < 0 ? static_cast<Element>(fill_of(sample, i))
                   : static_cast<const Element*>(sample.input)[offset];
  }
}

// Elements that are next to each other in memory, or whose pixels are, the other way round.
template <typename Element>
inline __device__ uint64_t load_word(const Element* from, const WindowAxis& last, int inner,
                                     int left) {
  constexpr int kCount = 8 / sizeof(Element);
  uint64_t word = 0;
  if (!last.mirrored) {
    if (reinterpret_cast<uintptr_t>(from) % sizeof word == 0)
      return *reinterpret_cast<const uint64_t*>(from);
#pragma unroll
    for (int k = 0; k < kCount; ++k)
      word |= static_cast<uint64_t>(from[k]) << (8 * sizeof(Element) * k);
    return word;
  }
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    word |= static_cast<uint64_t>(*from) << (8 * sizeof(Element) * k);
    ++from;
    if (--left == 0) {
      left = inner;
      from -= 2 * inner;
    }
  }
  return word;
}

// Every thread makes eight bytes of the output, which are stored at once.
template <typename Element>
inline __device__ void copy_window(const WindowCopySample& sample) {
  constexpr int kCount = 8 / sizeof(Element);
  const WindowAxis& last = sample.axes[sample.num_axes - 1];
  Element* const output = static_cast<Element*>(sample.output);
  const int64_t num_elements = sample.num_elements;
  const int before = static_cast<int>(reinterpret_cast<uintptr_t>(output) % 8 / sizeof(Element));
  for (int64_t item = first_item(); item * kCount < num_elements + before; item += item_step()) {
    const int64_t begin = item * kCount - before;
    if (begin < 0 || begin + kCount > num_elements) {
      copy_elements<Element>(sample, begin < 0 ? 0 : begin,
                             begin + kCount < num_elements ? begin + kCount : num_elements);
      continue;
    }
    // If all of them are in one line and inside, they are next to each other, or pixels are.
    const int64_t inner = sample.inner;
    const Place place(sample, begin);
    const int64_t base = find_line(sample, place.line);
    const int64_t end =
        place.position + (inner == 1 ? kCount : quotient(place.inner + kCount - 1, inner) + 1);
    const int64_t source = last.source(place.position);
    if (base >= 0 && end <= last.extent && last.has(source) && last.has(last.source(end - 1)) &&
        (inner >> 30) == 0) {
      const Element* const from =
          static_cast<const Element*>(sample.input) + base + source * last.stride + place.inner;
      *reinterpret_cast<uint64_t*>(output + begin) =
          load_word(from, last, static_cast<int>(inner), static_cast<int>(inner - place.inner));
    } else {
      copy_elements<Element>(sample, begin, begin + kCount);
    }
  }
}

}  // namespace

// Windows in the type of their input.
extern "C" __global__ void __launch_bounds__(256, 4)
    copy_windows(const WindowCopySample* samples, int64_t num_samples) {
  const int64_t number = sample_of_block();
  if (number >= num_samples) return;
  const WindowCopySample& sample = samples[number];
  if (sample.num_elements == 0 || sample.from != sample.to) return;
  switch (size_of(sample.to)) {
    case 1:
      return copy_window<uint8_t>(sample);
    case 2:
      return copy_window<uint16_t>(sample);
    case 4:
      return copy_window<uint32_t>(sample);
    default:
      return copy_window<uint64_t>(sample);
  }
}

// Windows in another type.
extern "C" __global__ void convert_windows(const WindowCopySample* samples, int64_t num_samples) {
  const int64_t number = sample_of_block();
  if (number >= num_samples) return;
  const WindowCopySample& sample = samples[number];
  if (sample.from == sample.to) return;
  for (int64_t i = first_item(); i < sample.num_elements; i += item_step()) {
    const int64_t offset = find_element(sample, i);
    if (offset < 0) {
      store_bits(sample.output, i, size_of(sample.to), fill_of(sample, i));
      continue;
    }
    with_type(sample.from, [&](auto zero) {
      using From = decltype(zero);
      const From value = static_cast<const From*>(sample.input)[offset];
      if (sample.to == DataType::kUInt8)
        static_cast<uint8_t*>(sample.output)[i] = window_convert<uint8_t>(value);
      else if (sample.to == DataType::kFloat16)
        static_cast<Half*>(sample.output)[i] = window_convert<Half>(value);
      else
        static_cast<float*>(sample.output)[i] = window_convert<float>(value);
    });
  }
}

}  // namespace dali_core
