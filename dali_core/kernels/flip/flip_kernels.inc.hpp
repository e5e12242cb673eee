// Inner loops of fn.flip, compiled for every instruction set (see simd.hpp), hence without guard.

#include "dali_core/interleaved_pixels.inc.hpp"

template <typename Pixel>
inline void mirror_pixels_of(const void* in, void* out, int64_t count) {
  const Pixel* const from = static_cast<const Pixel*>(in);
  Pixel* const to = static_cast<Pixel*>(out);
  for (int64_t i = 0; i < count; ++i) to[i] = from[flip_source(i, count, true)];
}

// Writes `count` pixels of `pixel_bytes` bytes in reverse order. Those of several bytes may be
// elements of one byte each, at any address.
inline void mirror_pixels(const uint8_t* in, uint8_t* out, int64_t count, int64_t pixel_bytes) {
  const auto addresses = reinterpret_cast<uintptr_t>(in) | reinterpret_cast<uintptr_t>(out);
  const auto alignment = static_cast<uintptr_t>(pixel_bytes & -pixel_bytes);
  switch ((addresses & (alignment - 1)) == 0 ? pixel_bytes : 0) {
    case 1:
      return mirror_pixels_of<uint8_t>(in, out, count);
    case 2:
      return mirror_pixels_of<uint16_t>(in, out, count);
    case 3:
      return mirror_pixels_of_3(in, out, count);
    case 4:
      return mirror_pixels_of<uint32_t>(in, out, count);
    case 6:
      return mirror_pixels_of<std::array<uint16_t, 3>>(in, out, count);
    case 8:
      return mirror_pixels_of<uint64_t>(in, out, count);
    case 12:
      return mirror_pixels_of<std::array<uint32_t, 3>>(in, out, count);
    default:
      for (int64_t i = 0; i < count; ++i)
        std::memcpy(out + i * pixel_bytes, in + flip_source(i, count, true) * pixel_bytes,
                    static_cast<size_t>(pixel_bytes));
  }
}
