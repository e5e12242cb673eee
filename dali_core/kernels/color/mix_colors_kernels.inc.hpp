// Inner loops of mix_colors(), compiled for every instruction set (see simd.hpp), hence without
// guard. Blocks of pixels are taken apart into planes within the first-level cache, where the
// channels mix in full vectors. Colours in 8 bits stay bytes in the planes, all others are float.

#include "dali_core/interleaved_pixels.inc.hpp"

constexpr int64_t kPixelsInBlock = 512;

// Puts three planes of bytes together to pixels.
inline void merge_pixels_of_3(const uint8_t* planes, uint8_t* out, int64_t count) {
  int64_t i = 0;
#if DC_SIMD_BYTES >= 32
  const auto source_of = [](int byte) { return 16 * (byte % 3) + byte / 3; };
  const Gather48 first([&](int k) { return source_of(k); });
  const Gather48 second([&](int k) { return source_of(k + 16); });
  const Gather48 third([&](int k) { return source_of(k + 32); });
  for (; i + 16 <= count; i += 16) {
    const auto load = [&](int c) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(planes + c * kPixelsInBlock + i));
    };
    const __m128i a = load(0), b = load(1), c = load(2);
    auto* const target = reinterpret_cast<__m128i*>(out + 3 * i);
    _mm_storeu_si128(target, first(a, b, c));
    _mm_storeu_si128(target + 1, second(a, b, c));
    _mm_storeu_si128(target + 2, third(a, b, c));
  }
#endif
  for (; i < count; ++i)
    for (int c = 0; c < 3; ++c) out[3 * i + c] = planes[c * kPixelsInBlock + i];
}

inline void load_planes(const MixTask& task, int64_t first, int64_t count, uint8_t* planes) {
  const auto* const in = static_cast<const uint8_t*>(task.in) + first * task.input_channels;
  uint8_t* const channels[3] = {planes, planes + kPixelsInBlock, planes + 2 * kPixelsInBlock};
  if (task.input_channels == 3)
    split_pixels_of_3(in, channels, count, false);
  else
    std::memcpy(planes, in, static_cast<size_t>(count));
}

inline void load_planes(const MixTask& task, int64_t first, int64_t count, float* planes) {
  alignas(64) float pixels[3 * kPixelsInBlock];
  convert_to_floats(element_at(task.in, task.from, first * task.input_channels), task.from,
                    task.input_channels == 3 ? pixels : planes, count * task.input_channels);
  if (task.input_channels == 1) return;
  for (int64_t i = 0; i < count; ++i) {
    planes[i] = pixels[3 * i];
    planes[i + kPixelsInBlock] = pixels[3 * i + 1];
    planes[i + 2 * kPixelsInBlock] = pixels[3 * i + 2];
  }
}

inline void store_planes(const MixTask& task, int64_t first, int64_t count, const uint8_t* planes) {
  auto* const out = static_cast<uint8_t*>(task.out) + first * task.output_channels;
  if (task.output_channels == 3)
    merge_pixels_of_3(planes, out, count);
  else
    std::memcpy(out, planes, static_cast<size_t>(count));
}

inline void store_planes(const MixTask& task, int64_t first, int64_t count, const float* planes) {
  alignas(64) float pixels[3 * kPixelsInBlock];
  if (task.output_channels == 3) {
    for (int64_t i = 0; i < count; ++i) {
      pixels[3 * i] = planes[i];
      pixels[3 * i + 1] = planes[i + kPixelsInBlock];
      pixels[3 * i + 2] = planes[i + 2 * kPixelsInBlock];
    }
  }
  convert_from_floats(task.output_channels == 3 ? pixels : planes,
                      element_at(task.out, task.to, first * task.output_channels), task.to,
                      count * task.output_channels);
}

template <typename From, typename To>
inline void mix_planes(const MixTask& task, const From* __restrict in, To* __restrict out,
                       int64_t count) {
  const MixTask m = task;
  const int64_t step = task.input_channels == 3 ? kPixelsInBlock : 0;
  if (task.output_channels == 1) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = convert<To>(mix_channels(m.factors[0], m.offsets[0], static_cast<float>(in[i]),
                                        static_cast<float>(in[i + step]),
                                        static_cast<float>(in[i + 2 * step])));
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    const float a = static_cast<float>(in[i]);
    const float b = static_cast<float>(in[i + step]);
    const float c = static_cast<float>(in[i + 2 * step]);
    out[i] = convert<To>(mix_channels(m.factors[0], m.offsets[0], a, b, c));
    out[i + kPixelsInBlock] = convert<To>(mix_channels(m.factors[1], m.offsets[1], a, b, c));
    out[i + 2 * kPixelsInBlock] = convert<To>(mix_channels(m.factors[2], m.offsets[2], a, b, c));
  }
}

template <typename From, typename To>
inline void mix_blocks(const MixTask& task) {
  alignas(64) From in[3 * kPixelsInBlock];
  alignas(64) To out[3 * kPixelsInBlock];
  for (int64_t first = 0; first < task.pixels; first += kPixelsInBlock) {
    const int64_t count = std::min(kPixelsInBlock, task.pixels - first);
    load_planes(task, first, count, in);
    mix_planes(task, in, out, count);
    store_planes(task, first, count, out);
  }
}

inline void mix_pixels(const MixTask& task) {
  const bool from_bytes = task.from == DataType::kUInt8;
  const bool to_bytes = task.to == DataType::kUInt8;
  if (from_bytes && to_bytes)
    mix_blocks<uint8_t, uint8_t>(task);
  else if (from_bytes)
    mix_blocks<uint8_t, float>(task);
  else if (to_bytes)
    mix_blocks<float, uint8_t>(task);
  else
    mix_blocks<float, float>(task);
}
