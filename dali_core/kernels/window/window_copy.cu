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

// Where 16 bytes of the output come from.
struct WordSource {
  const char* from;  // null: nowhere, or not from one piece
  int skipped;       // bytes of the first pixel, where pixels are mirrored
};

// Ones in bytes of a word from `number` on, which may be outside of it.
inline __device__ uint32_t bytes_from(int number) {
  const int inside = number < 0 ? 0 : number > 4 ? 4 : number;
  return static_cast<uint32_t>(uint64_t{0xffffffffu} << (8 * inside));
}

// Bytes `begin` to `end` of 16 come from others.
inline __device__ void replace_bytes(uint32_t (&words)[4], const uint32_t (&others)[4], int begin,
                                     int end) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const uint32_t mask = bytes_from(begin - 4 * i) & ~bytes_from(end - 4 * i);
    words[i] = (words[i] & ~mask) | (others[i] & mask);
  }
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

  // Where a line comes from: an offset in bytes, or -1.
  inline __device__ int64_t line_source(int64_t line) const {
    int64_t base;
    if (has_many_axes) {
      base = find_line(sample, line);
    } else {
      const int64_t row = rows.source(line);
      base = rows.has(row) ? row * rows.stride : -1;
    }
    return base < 0 ? -1 : base * size;
  }

  // Source of the bytes from `within` on of a line that comes from `base`. All that are in the line
  // are in the input; the other ones, before or behind it, are anything.
  inline __device__ WordSource find(int64_t base, int64_t within) const {
    const int64_t pixel = pixel_bytes.divisor;
    if (base < 0) return {nullptr, 0};
    if (!columns.mirrored) {
      const int64_t first = within + columns.start * pixel;
      const int64_t wanted_first = within < 0 ? columns.start * pixel : first;
      const int64_t left = line_bytes.divisor - within;
      const int64_t wanted_end = first + (left < 16 ? left : 16);
      if (wanted_first < 0 || wanted_end > columns.source_extent * pixel) return {nullptr, 0};
      const char* const from = input + base + first;
      return {memory.has_words(from, 16) ? from : nullptr, 0};
    }
    if (pixel > 4) return {nullptr, 0};
    const int64_t position =
        within < 0 ? -quotient(pixel - 1 - within, pixel_bytes) : quotient(within, pixel_bytes);
    const int skipped = static_cast<int>(within - position * pixel);
    if (skipped != 0 && pixel != 3) return {nullptr, 0};
    // Six pixels of three bytes are enough wherever the first one begins.
    const int64_t end = position + (pixel == 3 ? 6 : 16 / static_cast<int>(pixel)) - 1;
    const int64_t wanted_first = position < 0 ? 0 : position;
    const int64_t wanted_end = end < columns.extent ? end : columns.extent - 1;
    if (!columns.has(columns.source(wanted_first)) || !columns.has(columns.source(wanted_end)))
      return {nullptr, 0};
    const char* const from = input + base + columns.source(end) * pixel;
    return {memory.has_words(from, 20) ? from : nullptr, skipped};
  }

  // What lies at a source, with the shifts of `place` to come.
  inline __device__ void load(const WordSource& source, uint32_t (&loaded)[6]) const {
    const uintptr_t address = reinterpret_cast<uintptr_t>(source.from);
    const uint32_t* const words = reinterpret_cast<const uint32_t*>(address & ~uintptr_t{3});
    if (!columns.mirrored && address % 16 == 0) {
      const FourWords four = *reinterpret_cast<const FourWords*>(words);
#pragma unroll
      for (int i = 0; i < 4; ++i) loaded[i] = four.words[i];
      loaded[4] = 0;
      return;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) loaded[i] = words[i];
    loaded[4] = columns.mirrored || address % 4 != 0 ? words[4] : 0;
    loaded[5] = columns.mirrored && address % 4 != 0 ? words[5] : 0;
  }

  // Makes 16 bytes of the output of what was loaded.
  inline __device__ void place(const WordSource& source, const uint32_t (&loaded)[6],
                               uint32_t (&words)[4]) const {
    const int shift = static_cast<int>(reinterpret_cast<uintptr_t>(source.from) % 4);
    if (!columns.mirrored) {
#pragma unroll
      for (int i = 0; i < 4; ++i) words[i] = word_across(loaded[i], loaded[i + 1], shift);
      return;
    }
    uint32_t pixels[5];
#pragma unroll
    for (int i = 0; i < 5; ++i) pixels[i] = word_across(loaded[i], loaded[i + 1], shift);
    mirror_words(static_cast<int>(pixel_bytes.divisor), source.skipped, pixels, words);
  }

  // Makes 16 bytes of one line of which some may come from nowhere, so they are filled; false:
  // element by element.
  inline __device__ bool make_line(int64_t line, int64_t within, uint32_t (&words)[4]) const {
    const int64_t base = line_source(line);
    const WordSource source = find(base, within);
    uint32_t loaded[6];
    if (source.from != nullptr) {
      load(source, loaded);
      place(source, loaded, words);
      return true;
    }
    if (!is_filled || (base >= 0 && columns.mirrored)) return false;
    uint32_t filled[4] = {fill, fill, fill, fill};
    const int64_t first = within + columns.start * pixel_bytes.divisor;
    const int64_t end = columns.source_extent * pixel_bytes.divisor;
    if (base >= 0 && first + 16 > 0 && first < end) {
      const char* const from = input + base + first;
      if (!memory.has_words(from, 16)) return false;
      const WordSource partly{from, 0};
      load(partly, loaded);
      place(partly, loaded, words);
      replace_bytes(filled, words, first < 0 ? static_cast<int>(-first) : 0,
                    end - first < 16 ? static_cast<int>(end - first) : 16);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) words[i] = filled[i];
    return true;
  }

  // The same for bytes of one line or of two.
  inline __device__ bool make(int64_t byte, uint32_t (&words)[4]) const {
    if (line_bytes.divisor < 16) return false;
    const int64_t line = quotient(byte, line_bytes);
    const int64_t within = byte - line * line_bytes.divisor;
    if (!make_line(line, within, words)) return false;
    const int64_t left = line_bytes.divisor - within;
    if (left >= 16) return true;
    uint32_t next[4];
    if (!make_line(line + 1, -left, next)) return false;
    replace_bytes(words, next, static_cast<int>(left), 16);
    return true;
  }
};

// Every thread makes twice 16 bytes of the output at a time, which are stored at once.
inline __device__ void copy_window(const WindowCopySample& sample) {
  constexpr int kTogether = 2;
  const WindowWords window(sample);
  char* const output = static_cast<char*>(sample.output);
  const int64_t bytes = sample.num_elements * window.size;
  const int64_t before = static_cast<int64_t>(reinterpret_cast<uintptr_t>(output) % 16);
  const int64_t items = (bytes + before + 15) / 16;
  for (int64_t first = first_item(); first < items; first += kTogether * item_step()) {
    WordSource sources[kTogether];
    uint32_t loaded[kTogether][6];
#pragma unroll
    for (int k = 0; k < kTogether; ++k) {
      const int64_t begin = (first + k * item_step()) * 16 - before;
      sources[k] = {nullptr, 0};
      if (begin < 0 || begin + 16 > bytes) continue;
      const int64_t line = quotient(begin, window.line_bytes);
      const int64_t within = begin - line * window.line_bytes.divisor;
      if (within + 16 <= window.line_bytes.divisor)
        sources[k] = window.find(window.line_source(line), within);
    }
#pragma unroll
    for (int k = 0; k < kTogether; ++k)
      if (sources[k].from != nullptr) window.load(sources[k], loaded[k]);
#pragma unroll
    for (int k = 0; k < kTogether; ++k) {
      const int64_t item = first + k * item_step();
      if (item >= items) break;
      const int64_t begin = item * 16 - before;
      ElementGroup<uint32_t> words;
      bool is_made = sources[k].from != nullptr;
      if (is_made)
        window.place(sources[k], loaded[k], words.elements);
      else if (begin >= 0 && begin + 16 <= bytes)
        is_made = window.make(begin, words.elements);
      if (is_made)
        store_whole(reinterpret_cast<uint32_t*>(output + begin), words);
      else
        copy_elements(sample, begin < 0 ? 0 : begin, begin + 16 < bytes ? begin + 16 : bytes,
                      window.size);
    }
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
