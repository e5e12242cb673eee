// The inverse transform in vectors: to be included inside the namespace of an instruction set (see
// simd.hpp), hence without guard.
//
// As in the library, products with the steps and some sums have 16 bits and wrap around, products
// with constants have 32, and what a pass gives is saturated to 16 bits. Sums of products are the
// same modulo 2**32 however they are grouped, so constants are multiplied out.
#include "dali_core/kernels/jpeg/jpeg_dct_lanes.inc.hpp"

// Four sums and differences of 32 bits, rounded: results i and 7 - i.
struct HalfPass {
  Lanes sums[4], differences[4];
};

template <int kShift>
inline HalfPass rounded(const Lanes even[4], const Lanes odd[4]) {
  HalfPass result;
  for (int i = 0; i < 4; ++i) {
    result.sums[i] = DC_V(srai_epi32)(DC_V(add_epi32)(even[i], odd[i]), kShift);
    result.differences[i] = DC_V(srai_epi32)(DC_V(sub_epi32)(even[i], odd[i]), kShift);
  }
  return result;
}

// `even_pair` has frequencies 2 and 6, the others have 7 and 1, 5 and 3, and their sums.
template <int kShift>
inline HalfPass half_pass(Lanes sum, Lanes difference, Lanes even_pair, Lanes outer, Lanes inner,
                          Lanes sums) {
  const Lanes round = DC_V(set1_epi32)(1 << (kShift - 1));
  const Lanes high = DC_V(madd_epi16)(even_pair, pair(kCos6Root2 + kCos2LessCos6, kCos6Root2));
  const Lanes low = DC_V(madd_epi16)(even_pair, pair(kCos6Root2, kCos6Root2 - kCos2AndCos6));
  sum = DC_V(add_epi32)(sum, round);
  difference = DC_V(add_epi32)(difference, round);
  const Lanes even[4] = {DC_V(add_epi32)(sum, high), DC_V(add_epi32)(difference, low),
                         DC_V(sub_epi32)(difference, low), DC_V(sub_epi32)(sum, high)};
  const Lanes z3 = DC_V(madd_epi16)(sums, pair(kCommon - kOuter2, kCommon));
  const Lanes z4 = DC_V(madd_epi16)(sums, pair(kCommon, kCommon - kOuter3));
  const Lanes odd[4] = {
      DC_V(add_epi32)(z4, DC_V(madd_epi16)(outer, pair(-kOuter0, kOdd3 - kOuter0))),
      DC_V(add_epi32)(z3, DC_V(madd_epi16)(inner, pair(-kOuter1, kOdd2 - kOuter1))),
      DC_V(add_epi32)(z4, DC_V(madd_epi16)(inner, pair(kOdd1 - kOuter1, -kOuter1))),
      DC_V(add_epi32)(z3, DC_V(madd_epi16)(outer, pair(kOdd0 - kOuter0, -kOuter0)))};
  return rounded<kShift>(even, odd);
}

// The same where frequencies 4 to 7 are zero: `pairs` has 1 and 3.
template <int kShift>
inline HalfPass half_pass_of_4(Lanes sum, Lanes second, Lanes pairs) {
  sum = DC_V(add_epi32)(sum, DC_V(set1_epi32)(1 << (kShift - 1)));
  const Lanes high = DC_V(madd_epi16)(second, pair(kCos6Root2 + kCos2LessCos6, 0));
  const Lanes low = DC_V(madd_epi16)(second, pair(kCos6Root2, 0));
  const Lanes even[4] = {DC_V(add_epi32)(sum, high), DC_V(add_epi32)(sum, low),
                         DC_V(sub_epi32)(sum, low), DC_V(sub_epi32)(sum, high)};
  const Lanes odd[4] = {DC_V(madd_epi16)(pairs, pair(kOdd3 - kOuter0 + kCommon - kOuter3, kCommon)),
                        DC_V(madd_epi16)(pairs, pair(kCommon, kOdd2 - kOuter1 + kCommon - kOuter2)),
                        DC_V(madd_epi16)(pairs, pair(kCommon - kOuter3, kCommon - kOuter1)),
                        DC_V(madd_epi16)(pairs, pair(kCommon - kOuter0, kCommon - kOuter2))};
  return rounded<kShift>(even, odd);
}

inline void join_halves(const HalfPass& low, const HalfPass& high, Lanes* v) {
  for (int i = 0; i < 4; ++i) {
    v[i] = DC_V(packs_epi32)(low.sums[i], high.sums[i]);
    v[7 - i] = DC_V(packs_epi32)(low.differences[i], high.differences[i]);
  }
}

template <int kShift>
inline void pass(Lanes* v) {
  const Lanes sum = DC_V(add_epi16)(v[0], v[4]), difference = DC_V(sub_epi16)(v[0], v[4]);
  const Lanes z3 = DC_V(add_epi16)(v[7], v[3]), z4 = DC_V(add_epi16)(v[5], v[1]);
  const HalfPass low =
      half_pass<kShift>(scaled_low(sum), scaled_low(difference), DC_V(unpacklo_epi16)(v[2], v[6]),
                        DC_V(unpacklo_epi16)(v[7], v[1]), DC_V(unpacklo_epi16)(v[5], v[3]),
                        DC_V(unpacklo_epi16)(z3, z4));
  const HalfPass high =
      half_pass<kShift>(scaled_high(sum), scaled_high(difference), DC_V(unpackhi_epi16)(v[2], v[6]),
                        DC_V(unpackhi_epi16)(v[7], v[1]), DC_V(unpackhi_epi16)(v[5], v[3]),
                        DC_V(unpackhi_epi16)(z3, z4));
  join_halves(low, high, v);
}

// Of frequencies 0 to 3; the others are zero, and so is, if `kHalf`, the upper half of each vector.
template <int kShift, bool kHalf>
inline void pass_of_4(Lanes* v) {
  const Lanes zero = zero_lanes();
  const HalfPass low = half_pass_of_4<kShift>(scaled_low(v[0]), DC_V(unpacklo_epi16)(v[2], zero),
                                              DC_V(unpacklo_epi16)(v[1], v[3]));
  if constexpr (kHalf) {
    join_halves(low, HalfPass{{zero, zero, zero, zero}, {zero, zero, zero, zero}}, v);
  } else {
    const HalfPass high = half_pass_of_4<kShift>(
        scaled_high(v[0]), DC_V(unpackhi_epi16)(v[2], zero), DC_V(unpackhi_epi16)(v[1], v[3]));
    join_halves(low, high, v);
  }
}

// Rows become columns; if `kHalf`, only four of them.
template <bool kHalf>
inline void transpose(Lanes* v) {
  Lanes a[8];
  for (int i = 0; i < 4; ++i) {
    a[i] = DC_V(unpacklo_epi16)(v[2 * i], v[2 * i + 1]);
    if (!kHalf) a[4 + i] = DC_V(unpackhi_epi16)(v[2 * i], v[2 * i + 1]);
  }
  for (int part = 0; part < (kHalf ? 1 : 2); ++part) {
    const Lanes* const b = a + 4 * part;
    Lanes* const out = v + 4 * part;
    const Lanes low0 = DC_V(unpacklo_epi32)(b[0], b[1]), low1 = DC_V(unpacklo_epi32)(b[2], b[3]);
    const Lanes high0 = DC_V(unpackhi_epi32)(b[0], b[1]), high1 = DC_V(unpackhi_epi32)(b[2], b[3]);
    out[0] = DC_V(unpacklo_epi64)(low0, low1);
    out[1] = DC_V(unpackhi_epi64)(low0, low1);
    out[2] = DC_V(unpacklo_epi64)(high0, high1);
    out[3] = DC_V(unpackhi_epi64)(high0, high1);
  }
}

// Stores columns as rows of bytes around 128.
inline void store_columns(const Lanes* v, uint8_t* out, int64_t stride) {
  const Lanes a = DC_V(packs_epi16)(v[0], v[4]), b = DC_V(packs_epi16)(v[1], v[5]);
  const Lanes c = DC_V(packs_epi16)(v[2], v[6]), d = DC_V(packs_epi16)(v[3], v[7]);
  const Lanes ab_low = DC_V(unpacklo_epi8)(a, b), ab_high = DC_V(unpackhi_epi8)(a, b);
  const Lanes cd_low = DC_V(unpacklo_epi8)(c, d), cd_high = DC_V(unpackhi_epi8)(c, d);
  const Lanes left_top = DC_V(unpacklo_epi16)(ab_low, cd_low);
  const Lanes left_bottom = DC_V(unpackhi_epi16)(ab_low, cd_low);
  const Lanes right_top = DC_V(unpacklo_epi16)(ab_high, cd_high);
  const Lanes right_bottom = DC_V(unpackhi_epi16)(ab_high, cd_high);
  const Lanes middle = DC_V(set1_epi8)(-128);
  const Lanes rows[4] = {DC_V(unpacklo_epi32)(left_top, right_top),
                         DC_V(unpackhi_epi32)(left_top, right_top),
                         DC_V(unpacklo_epi32)(left_bottom, right_bottom),
                         DC_V(unpackhi_epi32)(left_bottom, right_bottom)};
  for (int i = 0; i < 4; ++i) {
    uint8_t* const at = out + 2 * i * stride;
    const Lanes two = exclusive_or(rows[i], middle);
#if DC_SIMD_BYTES >= 32
    const Lanes sorted = _mm256_permute4x64_epi64(two, 0xD8);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(at), _mm256_castsi256_si128(sorted));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(at + stride), _mm256_extracti128_si256(sorted, 1));
#else
    _mm_storel_epi64(reinterpret_cast<__m128i*>(at), two);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(at + stride), _mm_unpackhi_epi64(two, two));
#endif
  }
}

// Blocks without any detail.
inline void store_flat(int16_t* blocks, int quantization, uint8_t* out, int64_t stride,
                       bool& is_safe) {
  uint64_t rows[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    int16_t& first = blocks[64 * lane];
    const int value =
        static_cast<int16_t>(static_cast<uint32_t>(first) * static_cast<uint32_t>(quantization));
    first = 0;
    is_safe = is_safe && value >= -kSafe && value < kSafe;
    rows[lane] = 0x0101010101010101u * static_cast<uint64_t>(flat_sample(value));
  }
  for (int y = 0; y < 8; ++y) std::memcpy(out + y * stride, rows, sizeof rows);
}

inline bool transform_row(int16_t* blocks, const uint8_t* counts, int64_t num_blocks,
                          const uint16_t* quantization, uint8_t* out, int64_t stride) {
  constexpr int kCountOf4 = 10;  // so many coefficients are among the first four rows and columns
  constexpr int kPass1 = kConstantBits - kPassBits, kPass2 = kConstantBits + kPassBits + 3;
  bool is_safe = true;
  Lanes unsafe = zero_lanes();
  Lanes steps[8];
  for (int i = 0; i < 8; ++i) steps[i] = in_each_lane(load_row(quantization + 8 * i));
  for (int64_t block = 0; block < num_blocks;
       block += kLanes, blocks += 64 * kLanes, out += 8 * kLanes, counts += kLanes) {
    int count = counts[0];
    if (kLanes == 2 && counts[1] > count) count = counts[1];
    if (count <= 1) {
      store_flat(blocks, quantization[0], out, stride, is_safe);
      continue;
    }
    const int num_rows = count <= kCountOf4 ? 4 : 8;
    Lanes v[8];
    for (int i = 0; i < 4; ++i) v[i] = DC_V(mullo_epi16)(load_rows(blocks, i), steps[i]);
    // Whether the first row is beyond -kSafe to kSafe - 1.
    unsafe = either(unsafe, DC_V(srai_epi16)(DC_V(add_epi16)(v[0], DC_V(set1_epi16)(kSafe)), 14));
    if (num_rows == 4) {
      pass_of_4<kPass1, true>(v);
      transpose<true>(v);
      pass_of_4<kPass2, false>(v);
    } else {
      for (int i = 4; i < 8; ++i) v[i] = DC_V(mullo_epi16)(load_rows(blocks, i), steps[i]);
      pass<kPass1>(v);
      transpose<false>(v);
      pass<kPass2>(v);
    }
    store_columns(v, out, stride);
    for (int lane = 0; lane < kLanes; ++lane)
      std::memset(blocks + 64 * lane, 0, sizeof(int16_t) * 8 * static_cast<size_t>(num_rows));
  }
  alignas(32) int16_t found[8 * kLanes];
  std::memcpy(found, &unsafe, sizeof unsafe);
  for (const int16_t one : found) is_safe = is_safe && one == 0;
  return is_safe;
}

// The product with `kFactor` / 256, which is below 2.
template <int kFactor>
inline Lanes fast_product(Lanes v) {
  return DC_V(mulhi_epi16)(DC_V(slli_epi16)(v, 2), DC_V(set1_epi16)(kFactor * 64));
}

inline Lanes add(Lanes a, Lanes b) { return DC_V(add_epi16)(a, b); }
inline Lanes subtract(Lanes a, Lanes b) { return DC_V(sub_epi16)(a, b); }

// One dimension of the transform of scaled coefficients, in 16 bits, which wrap around.
inline void fast_pass(Lanes* v) {
  const Lanes sum = add(v[0], v[4]), difference = subtract(v[0], v[4]);
  const Lanes high = add(v[2], v[6]);
  const Lanes low = subtract(fast_product<kFastRoot2>(subtract(v[2], v[6])), high);
  const Lanes even[4] = {add(sum, high), add(difference, low), subtract(difference, low),
                         subtract(sum, high)};
  const Lanes inner = add(v[5], v[3]), inner_difference = subtract(v[5], v[3]);
  const Lanes outer = add(v[1], v[7]), outer_difference = subtract(v[1], v[7]);
  const Lanes turned = fast_product<kFastTwoCos2>(add(inner_difference, outer_difference));
  // The factor is beyond 2, so 1 is left out.
  const Lanes less =
      subtract(fast_product<256 - kFastTwoCos2AndCos6>(inner_difference), inner_difference);
  Lanes odd[4];
  odd[0] = add(outer, inner);
  odd[1] = subtract(add(less, turned), odd[0]);
  odd[2] = subtract(fast_product<kFastRoot2>(subtract(outer, inner)), odd[1]);
  // The last one has the other sign.
  odd[3] = add(subtract(fast_product<kFastTwoCos2LessCos6>(outer_difference), turned), odd[2]);
  for (int i = 0; i < 3; ++i) {
    v[i] = add(even[i], odd[i]);
    v[7 - i] = subtract(even[i], odd[i]);
  }
  v[3] = subtract(even[3], odd[3]);
  v[4] = add(even[3], odd[3]);
}

inline void fast_transform_row(int16_t* blocks, int64_t num_blocks, const int16_t* steps,
                               uint8_t* out, int64_t stride) {
  Lanes factors[8];
  for (int i = 0; i < 8; ++i) factors[i] = in_each_lane(load_row(steps + 8 * i));
  for (int64_t block = 0; block < num_blocks;
       block += kLanes, blocks += 64 * kLanes, out += 8 * kLanes) {
    Lanes v[8];
    for (int i = 0; i < 8; ++i) v[i] = DC_V(mullo_epi16)(load_rows(blocks, i), factors[i]);
    fast_pass(v);
    transpose<false>(v);
    fast_pass(v);
    for (Lanes& one : v) one = DC_V(srai_epi16)(one, kFastBits);
    store_columns(v, out, stride);
    std::memset(blocks, 0, sizeof(int16_t) * 64 * kLanes);
  }
}

#undef DC_V
