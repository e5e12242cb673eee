// Copies of windows, with mirrors and padding: what fn.crop, fn.slice and fn.flip do on a device.
#include "dali_core/device_kernel.hpp"
#include "dali_core/device_words.hpp"
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

// Where a line of the output, whose elements differ in the last axis only, comes from: an offset in
// the input, or -1.
inline __device__ int64_t find_line(const WindowCopySample& sample, int64_t number) {
  int64_t base = 0;
#pragma unroll 1
  for (int i = sample.num_axes - 2; i >= 0; --i) {
    const WindowAxis& axis = sample.axes[i];
    const int64_t next = i == 0 ? 0 : quotient(number, sample.extents[i]);
    const int64_t source = source_position(axis, number - next * axis.extent, sample.policy);
    if (source < 0) return -1;
    base += source * axis.stride;
    number = next;
  }
  return base;
}

// Offset of an element of the output in the input, or -1.
__device__ __noinline__ int64_t find_element(const WindowCopySample& sample, int64_t element) {
  const int last = sample.num_axes - 1;
  const int64_t pixel = sample.inner == 1 ? element : element / sample.inner;
  const int64_t line = quotient(pixel, sample.extents[last]);
  const int64_t source =
      source_position(sample.axes[last], pixel - line * sample.axes[last].extent, sample.policy);
  const int64_t base = find_line(sample, line);
  return base < 0 || source < 0
             ? -1
             : base + source * sample.axes[last].stride + element - pixel * sample.inner;
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

// A few elements, `size` bytes each.
__device__ __noinline__ void copy_elements(const WindowCopySample& sample, int64_t begin,
                                           int64_t end, int64_t size) {
  switch (size) {
    case 1:
      return copy_elements<uint8_t>(sample, begin, end);
    case 2:
      return copy_elements<uint16_t>(sample, begin / 2, end / 2);
    case 4:
      return copy_elements<uint32_t>(sample, begin / 4, end / 4);
    default:
      return copy_elements<uint64_t>(sample, begin / 8, end / 8);
  }
}

// 16 bytes of pixels the other way round, from byte `skipped` of the first one on. The input begins
// with the last pixel, of six if they have three bytes.
inline __device__ void mirror_words(int pixel_bytes, int skipped, const uint32_t (&in)[5],
                                    uint32_t (&out)[4]) {
  if (pixel_bytes == 3) {
    const uint32_t mirrored[5] = {
        __byte_perm(in[3], in[4], 0x0543), __byte_perm(in[3], in[2], 0x6521),
        __byte_perm(in[2], in[1], 0x0763), __byte_perm(in[0], in[1], 0x0543),
        __byte_perm(in[0], in[0], 0x0021)};
#pragma unroll
    for (int i = 0; i < 4; ++i) out[i] = word_across(mirrored[i], mirrored[i + 1], skipped);
    return;
  }
  const uint32_t order = pixel_bytes == 1 ? 0x0123 : pixel_bytes == 2 ? 0x1032 : 0x3210;
#pragma unroll
  for (int i = 0; i < 4; ++i) out[i] = __byte_perm(in[3 - i], 0, order);
}

// The window of a sample, whose parameters stay in registers.
struct WindowWords {
  const WindowCopySample& sample;
  const char* input;
  ByteRange memory;
  QuickDivisor line_bytes, pixel_bytes;
  WindowAxis rows, columns;
  int64_t size;
  uint32_t fill;
  bool is_filled;  // with one value
  bool has_many_axes;

  inline __device__ explicit WindowWords(const WindowCopySample& from)
      : sample(from),
        input(static_cast<const char*>(from.input)),
        memory(from.input, from.input_bytes),
        line_bytes(from.line_bytes),
        pixel_bytes(from.pixel_bytes),
        columns(from.axes[from.num_axes - 1]),
        size(size_of(from.to)),
        is_filled(from.policy == OutOfBounds::kPad && from.num_fill == 1 && size <= 4),
        has_many_axes(from.num_axes > 2) {
    rows = from.num_axes > 1 ? from.axes[from.num_axes - 2] : WindowAxis{1, 0, 1, 0, false};
    fill = static_cast<uint32_t>(from.fill[0]);
    if (size == 1) fill = (fill & 255) * 0x01010101u;
    if (size == 2) fill = (fill & 65535) * 0x00010001u;
  }

  // Makes 16 bytes of the output that are in one line; false: element by element.
  inline __device__ bool load(int64_t byte, uint32_t (&words)[4]) const {
    const int64_t line = quotient(byte, line_bytes);
    const int64_t within = byte - line * line_bytes.divisor;
    if (within + 16 > line_bytes.divisor) return false;
    int64_t base;
    if (has_many_axes) {
      base = find_line(sample, line);
    } else {
      const int64_t row = rows.source(line);
      if (!rows.has(row) && !is_filled) return false;
      base = rows.has(row) ? row * rows.stride : -1;
    }
    const int64_t pixel = pixel_bytes.divisor;
    const int64_t end = columns.source_extent * pixel;
    if (!columns.mirrored) {
      const int64_t first = within + columns.start * pixel;
      if (base < 0 || first + 16 <= 0 || first >= end) {
        if (!is_filled) return false;
#pragma unroll
        for (int i = 0; i < 4; ++i) words[i] = fill;
        return true;
      }
      const char* const from = input + base * size + first;
      if (first < 0 || first + 16 > end || !memory.has_words(from, 16)) return false;
      load_words(from, words);
      return true;
    }
    if (base < 0 || pixel > 4) return false;
    const int64_t position = quotient(within, pixel_bytes);
    const int skipped = static_cast<int>(within - position * pixel);
    // Six pixels of three bytes are enough wherever the first one begins.
    const int count = pixel == 3 ? 6 : 16 / static_cast<int>(pixel);
    const int64_t last = columns.source(position + count - 1);
    const char* const from = input + base * size + last * pixel;
    if ((skipped != 0 && pixel != 3) || !columns.has(columns.source(position)) || last < 0 ||
        !memory.has_words(from, 20))
      return false;
    uint32_t loaded[5];
    load_words(from, loaded);
    mirror_words(static_cast<int>(pixel), skipped, loaded, words);
    return true;
  }
};

// Every thread makes 16 bytes of the output, which are stored at once.
inline __device__ void copy_window(const WindowCopySample& sample) {
  const WindowWords window(sample);
  char* const output = static_cast<char*>(sample.output);
  const int64_t bytes = sample.num_elements * window.size;
  const int64_t before = static_cast<int64_t>(reinterpret_cast<uintptr_t>(output) % 16);
  for (int64_t item = first_item(); item * 16 < bytes + before; item += item_step()) {
    const int64_t begin = item * 16 - before;
    ElementGroup<uint32_t> words;
    if (begin >= 0 && begin + 16 <= bytes && window.load(begin, words.elements))
      store_whole(reinterpret_cast<uint32_t*>(output + begin), words);
    else
      copy_elements(sample, begin < 0 ? 0 : begin, begin + 16 < bytes ? begin + 16 : bytes,
                    window.size);
  }
}

}  // namespace

// Windows in the type of their input.
extern "C" __global__ void __launch_bounds__(256, 3)
    copy_windows(const WindowCopySample* samples, int64_t num_samples) {
  const int64_t number = sample_of_block();
  if (number >= num_samples) return;
  const WindowCopySample& sample = samples[number];
  if (sample.num_elements == 0 || sample.from != sample.to) return;
  copy_window(sample);
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
