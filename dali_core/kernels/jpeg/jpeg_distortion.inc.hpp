// Inner loops of fn.jpeg_compression_distortion, compiled for every instruction set (see simd.hpp),
// hence without guard.

// Takes a row of RGB pixels apart; from `width` on, the last pixel is repeated.
inline void split_colors(const uint8_t* __restrict rgb, int64_t width, int64_t padded_width,
                         uint8_t* __restrict y, uint8_t* __restrict cb, uint8_t* __restrict cr) {
  for (int64_t i = 0; i < width; ++i) {
    const int32_t red = rgb[3 * i], green = rgb[3 * i + 1], blue = rgb[3 * i + 2];
    y[i] = static_cast<uint8_t>(luma(red, green, blue));
    cb[i] = static_cast<uint8_t>(blue_difference(red, green, blue));
    cr[i] = static_cast<uint8_t>(red_difference(red, green, blue));
  }
  const auto padding = static_cast<size_t>(padded_width - width);
  std::memset(y + width, y[width - 1], padding);
  std::memset(cb + width, cb[width - 1], padding);
  std::memset(cr + width, cr[width - 1], padding);
}

// Means of 2 x 2 pixels; halves are rounded down and up in turns.
inline void halve_rows(const uint8_t* __restrict upper, const uint8_t* __restrict lower,
                       uint8_t* __restrict out, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = static_cast<uint8_t>(
        (upper[2 * i] + upper[2 * i + 1] + lower[2 * i] + lower[2 * i + 1] + 1 + (i & 1)) >> 2);
}

struct alignas(64) CoefficientBlock {
  int32_t rows[kBlock][kBlock];
};

inline void transpose(const CoefficientBlock& from, CoefficientBlock& to) {
  for (int i = 0; i < kBlock; ++i)
    for (int k = 0; k < kBlock; ++k) to.rows[k][i] = from.rows[i][k];
}

template <bool IsFirst>
inline void forward_pass(CoefficientBlock& block) {
  for (int lane = 0; lane < kBlock; ++lane) {
    int32_t v[kBlock];
    for (int k = 0; k < kBlock; ++k) v[k] = block.rows[k][lane];
    forward_dct(v, IsFirst);
    for (int k = 0; k < kBlock; ++k) block.rows[k][lane] = v[k];
  }
}

template <bool IsFirst>
inline void inverse_pass(CoefficientBlock& block) {
  for (int lane = 0; lane < kBlock; ++lane) {
    int32_t v[kBlock];
    for (int k = 0; k < kBlock; ++k) v[k] = block.rows[k][lane];
    inverse_dct(v, IsFirst);
    for (int k = 0; k < kBlock; ++k) block.rows[k][lane] = v[k];
  }
}

inline void round_coefficients(CoefficientBlock& block, const int32_t* __restrict steps) {
  int32_t* const coefficients = block.rows[0];
  for (int i = 0; i < kBlock * kBlock; ++i)
    coefficients[i] = quantized(coefficients[i], 8 * steps[i]) * steps[i];
}

// Rounds the coefficients of all blocks of a plane, whose extents are multiples of 8.
inline void distort_plane(uint8_t* plane, int64_t height, int64_t width, const int32_t* steps) {
  CoefficientBlock block, turned;
  for (int64_t y = 0; y < height; y += kBlock) {
    for (int64_t x = 0; x < width; x += kBlock) {
      uint8_t* const corner = plane + y * width + x;
      for (int i = 0; i < kBlock; ++i)
        for (int k = 0; k < kBlock; ++k) block.rows[i][k] = corner[i * width + k] - 128;
      // Forward along rows first, back along columns first: the order decides how they round.
      transpose(block, turned);
      forward_pass<true>(turned);
      transpose(turned, block);
      forward_pass<false>(block);
      round_coefficients(block, steps);
      inverse_pass<true>(block);
      transpose(block, turned);
      inverse_pass<false>(turned);
      transpose(turned, block);
      for (int i = 0; i < kBlock; ++i)
        for (int k = 0; k < kBlock; ++k)
          corner[i * width + k] = static_cast<uint8_t>(byte_of(block.rows[i][k] + 128));
    }
  }
}

// Doubles a row: each new sample lies between the nearest one, which counts thrice, and the next
// one, in both directions. `sums` is room for `count` numbers and one more at each end.
inline void double_row(const uint8_t* __restrict near, const uint8_t* __restrict far,
                       uint8_t* __restrict out, int64_t count, int16_t* __restrict sums) {
  int16_t* const inner = sums + 1;
  for (int64_t i = 0; i < count; ++i) inner[i] = static_cast<int16_t>(3 * near[i] + far[i]);
  sums[0] = inner[0];
  inner[count] = inner[count - 1];
  for (int64_t i = 0; i < count; ++i) {
    out[2 * i] = static_cast<uint8_t>((3 * inner[i] + sums[i] + 8) >> 4);
    out[2 * i + 1] = static_cast<uint8_t>((3 * inner[i] + inner[i + 1] + 7) >> 4);
  }
}

inline void join_colors(const uint8_t* __restrict y, const uint8_t* __restrict cb,
                        const uint8_t* __restrict cr, uint8_t* __restrict rgb, int64_t width) {
  for (int64_t i = 0; i < width; ++i) {
    rgb[3 * i] = static_cast<uint8_t>(red_of(y[i], cb[i], cr[i]));
    rgb[3 * i + 1] = static_cast<uint8_t>(green_of(y[i], cb[i], cr[i]));
    rgb[3 * i + 2] = static_cast<uint8_t>(blue_of(y[i], cb[i], cr[i]));
  }
}
