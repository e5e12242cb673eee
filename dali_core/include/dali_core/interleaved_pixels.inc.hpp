// Rows of pixels with interleaved channels: mirror them, take their channels apart, or put them
// together.
// To be included inside the namespace of an instruction set (see simd.hpp), hence without guard.

#if DC_SIMD_BYTES >= 32
// Byte `source[i]` of 48 bytes in three registers becomes byte i; a shuffle of one register gives
// zero wherever another register has the byte.
struct Gather48 {
  __m128i masks[3];

  template <typename SourceOf>
  explicit Gather48(SourceOf source_of) {
    alignas(16) int8_t bytes[3][16];
    for (int part = 0; part < 3; ++part)
      for (int i = 0; i < 16; ++i) {
        const int source = source_of(i) - 16 * part;
        bytes[part][i] = static_cast<int8_t>(source >= 0 && source < 16 ? source : -128);
      }
    for (int part = 0; part < 3; ++part)
      masks[part] = _mm_load_si128(reinterpret_cast<const __m128i*>(bytes[part]));
  }

  __m128i operator()(__m128i a, __m128i b, __m128i c) const {
    return _mm_or_si128(_mm_or_si128(_mm_shuffle_epi8(a, masks[0]), _mm_shuffle_epi8(b, masks[1])),
                        _mm_shuffle_epi8(c, masks[2]));
  }
};

// The same for 48 bytes in their new order.
struct Reorder48 {
  Gather48 first, second, third;

  template <typename SourceOf>
  explicit Reorder48(SourceOf source_of)
      : first([&](int i) { return source_of(i); }),
        second([&](int i) { return source_of(i + 16); }),
        third([&](int i) { return source_of(i + 32); }) {}

  void operator()(__m128i a, __m128i b, __m128i c, uint8_t* out) const {
    auto* const target = reinterpret_cast<__m128i*>(out);
    _mm_storeu_si128(target, first(a, b, c));
    _mm_storeu_si128(target + 1, second(a, b, c));
    _mm_storeu_si128(target + 2, third(a, b, c));
  }

  void operator()(const uint8_t* a, const uint8_t* b, const uint8_t* c, uint8_t* out) const {
    (*this)(_mm_loadu_si128(reinterpret_cast<const __m128i*>(a)),
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(b)),
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(c)), out);
  }
};
#endif

// Writes `count` pixels of 3 bytes in reverse order.
inline void mirror_pixels_of_3(const uint8_t* in, uint8_t* out, int64_t count) {
  int64_t i = 0;
#if DC_SIMD_BYTES >= 32
  const Reorder48 mirror([](int byte) { return 3 * (15 - byte / 3) + byte % 3; });
  for (; i + 16 <= count; i += 16) {
    const uint8_t* const block = in + 3 * (count - i - 16);
    mirror(block, block + 16, block + 32, out + 3 * i);
  }
#endif
  for (; i < count; ++i)
    for (int c = 0; c < 3; ++c) out[3 * i + c] = in[3 * (count - 1 - i) + c];
}

// Takes `count` pixels of 3 bytes apart, mirrored or not.
inline void split_pixels_of_3(const uint8_t* in, uint8_t* const planes[3], int64_t count,
                              bool mirror) {
  int64_t i = 0;
#if DC_SIMD_BYTES >= 32
  const auto channel = [mirror](int c) {
    return Gather48([=](int i) { return 3 * (mirror ? 15 - i : i) + c; });
  };
  const Gather48 first = channel(0), second = channel(1), third = channel(2);
  for (; i + 16 <= count; i += 16) {
    const auto* block = reinterpret_cast<const __m128i*>(in + 3 * (mirror ? count - i - 16 : i));
    const __m128i a = _mm_loadu_si128(block), b = _mm_loadu_si128(block + 1),
                  c = _mm_loadu_si128(block + 2);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(planes[0] + i), first(a, b, c));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(planes[1] + i), second(a, b, c));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(planes[2] + i), third(a, b, c));
  }
#endif
  for (; i < count; ++i) {
    const uint8_t* pixel = in + 3 * (mirror ? count - 1 - i : i);
    for (int c = 0; c < 3; ++c) planes[c][i] = pixel[c];
  }
}

// Puts `count` pixels of 3 bytes together.
inline void join_pixels_of_3(const uint8_t* const planes[3], uint8_t* out, int64_t count) {
  int64_t i = 0;
#if DC_SIMD_BYTES >= 32
  const Reorder48 join([](int byte) { return byte % 3 * 16 + byte / 3; });
  for (; i + 16 <= count; i += 16) join(planes[0] + i, planes[1] + i, planes[2] + i, out + 3 * i);
#endif
  for (; i < count; ++i)
    for (int c = 0; c < 3; ++c) out[3 * i + c] = planes[c][i];
}

// Gives `count` pixels of 3 bytes a fourth byte of zero, mirrored or not.
inline void widen_pixels_of_3(const uint8_t* in, uint8_t* out, int64_t count, bool mirror) {
  int64_t i = 0;
#if DC_SIMD_BYTES >= 32
  const __m128i order = mirror
                            ? _mm_setr_epi8(9, 10, 11, -1, 6, 7, 8, -1, 3, 4, 5, -1, 0, 1, 2, -1)
                            : _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1);
  // Four pixels are 12 bytes and 16 are read: the pixels at the end of the row go one by one.
  const int64_t readable = 3 * count - 16;
  for (; i + 4 <= count; i += 4) {
    const int64_t first = 3 * (mirror ? count - i - 4 : i);
    if (first > readable) {
      if (!mirror) break;
      for (int64_t k = i; k < i + 4; ++k) {
        for (int c = 0; c < 3; ++c) out[4 * k + c] = in[3 * (count - 1 - k) + c];
        out[4 * k + 3] = 0;
      }
      continue;
    }
    const __m128i pixels = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + first));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 4 * i), _mm_shuffle_epi8(pixels, order));
  }
#endif
  for (; i < count; ++i) {
    const uint8_t* pixel = in + 3 * (mirror ? count - 1 - i : i);
    for (int c = 0; c < 3; ++c) out[4 * i + c] = pixel[c];
    out[4 * i + 3] = 0;
  }
}
