// The inverse transform to fewer samples in vectors: to be included inside the namespace of an
// instruction set (see simd.hpp), hence without guard. What wraps around and what is saturated is
// as in jpeg_inverse_dct.inc.hpp.
#include "dali_core/kernels/jpeg/jpeg_dct_lanes.inc.hpp"

// Four results of 32 bits from the mean, times 2**14, and pairs of the other frequencies.
template <int kShift>
inline void sums_of_2(Lanes mean, Lanes even_pair, Lanes odd_13, Lanes odd_57, Lanes* out) {
  mean = DC_V(add_epi32)(mean, DC_V(set1_epi32)(1 << (kShift - 1)));
  const Lanes even = DC_V(madd_epi16)(even_pair, pair(kEvenOf2, kEvenOf6));
  const Lanes sum = DC_V(add_epi32)(mean, even), difference = DC_V(sub_epi32)(mean, even);
  const Lanes outer = DC_V(add_epi32)(DC_V(madd_epi16)(odd_13, pair(kOuterOf1, kOuterOf3)),
                                      DC_V(madd_epi16)(odd_57, pair(kOuterOf5, kOuterOf7)));
  const Lanes inner = DC_V(add_epi32)(DC_V(madd_epi16)(odd_13, pair(kInnerOf1, kInnerOf3)),
                                      DC_V(madd_epi16)(odd_57, pair(kInnerOf5, kInnerOf7)));
  out[0] = DC_V(srai_epi32)(DC_V(add_epi32)(sum, outer), kShift);
  out[1] = DC_V(srai_epi32)(DC_V(add_epi32)(difference, inner), kShift);
  out[2] = DC_V(srai_epi32)(DC_V(sub_epi32)(difference, inner), kShift);
  out[3] = DC_V(srai_epi32)(DC_V(sub_epi32)(sum, outer), kShift);
}

// Dequantised rows become 4 x 4 samples of 8 bits around 0, row by row.
inline Lanes block_of_4(const Lanes* v) {
  constexpr int kFirst = shift_of(4, true), kSecond = shift_of(4, false), kBits = kConstantBits + 1;
  Lanes low[4], high[4], rows[4];
  sums_of_2<kFirst>(scaled_low<kBits>(v[0]), DC_V(unpacklo_epi16)(v[2], v[6]),
                    DC_V(unpacklo_epi16)(v[1], v[3]), DC_V(unpacklo_epi16)(v[5], v[7]), low);
  sums_of_2<kFirst>(scaled_high<kBits>(v[0]), DC_V(unpackhi_epi16)(v[2], v[6]),
                    DC_V(unpackhi_epi16)(v[1], v[3]), DC_V(unpackhi_epi16)(v[5], v[7]), high);
  for (int i = 0; i < 4; ++i) rows[i] = DC_V(packs_epi32)(low[i], high[i]);
  // Columns of four: 0 and 1, 2 and 3, 4 and 5, 6 and 7.
  const Lanes upper[2] = {DC_V(unpacklo_epi16)(rows[0], rows[1]),
                          DC_V(unpackhi_epi16)(rows[0], rows[1])};
  const Lanes lower[2] = {DC_V(unpacklo_epi16)(rows[2], rows[3]),
                          DC_V(unpackhi_epi16)(rows[2], rows[3])};
  const Lanes c01 = DC_V(unpacklo_epi32)(upper[0], lower[0]);
  const Lanes c23 = DC_V(unpackhi_epi32)(upper[0], lower[0]);
  const Lanes c45 = DC_V(unpacklo_epi32)(upper[1], lower[1]);
  const Lanes c67 = DC_V(unpackhi_epi32)(upper[1], lower[1]);
  Lanes columns[4];
  sums_of_2<kSecond>(scaled_low<kBits>(c01), DC_V(unpacklo_epi16)(c23, c67),
                     DC_V(unpackhi_epi16)(c01, c23), DC_V(unpackhi_epi16)(c45, c67), columns);
  const Lanes bytes = DC_V(packs_epi16)(DC_V(packs_epi32)(columns[0], columns[1]),
                                        DC_V(packs_epi32)(columns[2], columns[3]));
  const Lanes half = DC_V(unpacklo_epi8)(bytes, DC_V(shuffle_epi32)(bytes, 0xEE));
  return DC_V(unpacklo_epi8)(half, DC_V(shuffle_epi32)(half, 0xEE));
}

// Two results from the mean, times 2**15, and pairs of odd frequencies.
inline Lanes odd_sum_of_4(Lanes odd_13, Lanes odd_57) {
  return DC_V(add_epi32)(DC_V(madd_epi16)(odd_13, pair(kHalfOf1, kHalfOf3)),
                         DC_V(madd_epi16)(odd_57, pair(kHalfOf5, kHalfOf7)));
}

// Dequantised rows become 2 x 2 samples in the lowest bytes. The library keeps 32 bits of the means
// of each row: those that do not fit into 16 leave bits in `unsafe`.
inline Lanes block_of_2(const Lanes* v, Lanes& unsafe) {
  constexpr int kFirst = shift_of(2, true), kSecond = shift_of(2, false), kBits = kConstantBits + 2;
  const Lanes round = DC_V(set1_epi32)(1 << (kFirst - 1));
  const Lanes odd[2] = {
      odd_sum_of_4(DC_V(unpacklo_epi16)(v[1], v[3]), DC_V(unpacklo_epi16)(v[5], v[7])),
      odd_sum_of_4(DC_V(unpackhi_epi16)(v[1], v[3]), DC_V(unpackhi_epi16)(v[5], v[7]))};
  const Lanes means[2] = {DC_V(add_epi32)(scaled_low<kBits>(v[0]), round),
                          DC_V(add_epi32)(scaled_high<kBits>(v[0]), round)};
  Lanes sums[2], differences[2];
  for (int i = 0; i < 2; ++i) {
    sums[i] = DC_V(srai_epi32)(DC_V(add_epi32)(means[i], odd[i]), kFirst);
    differences[i] = DC_V(srai_epi32)(DC_V(sub_epi32)(means[i], odd[i]), kFirst);
  }
  const Lanes first_column = in_each_lane(_mm_setr_epi32(-1, 0, 0, 0));
  for (const Lanes mean : {sums[0], differences[0]}) {
    const Lanes beyond = DC_V(srai_epi32)(DC_V(add_epi32)(mean, DC_V(set1_epi32)(1 << 15)), 16);
    unsafe = either(unsafe, both(beyond, first_column));
  }
  const Lanes rows[2] = {DC_V(packs_epi32)(sums[0], sums[1]),
                         DC_V(packs_epi32)(differences[0], differences[1])};
  // The odd frequencies of each row add up; the others do not count.
  const Lanes factors =
      in_each_lane(_mm_setr_epi16(0, kHalfOf1, 0, kHalfOf3, 0, kHalfOf5, 0, kHalfOf7));
  const Lanes products[2] = {DC_V(madd_epi16)(rows[0], factors),
                             DC_V(madd_epi16)(rows[1], factors)};
  const Lanes partial = DC_V(add_epi32)(DC_V(unpacklo_epi64)(products[0], products[1]),
                                        DC_V(unpackhi_epi64)(products[0], products[1]));
  const Lanes all = DC_V(add_epi32)(partial, DC_V(shuffle_epi32)(partial, 0xB1));
  const Lanes minus = in_each_lane(_mm_setr_epi32(0, -1, 0, -1));
  const Lanes turned = DC_V(sub_epi32)(exclusive_or(all, minus), minus);
  const Lanes first = DC_V(unpacklo_epi64)(DC_V(shuffle_epi32)(scaled_low<kBits>(rows[0]), 0),
                                           DC_V(shuffle_epi32)(scaled_low<kBits>(rows[1]), 0));
  const Lanes rounded = DC_V(add_epi32)(first, DC_V(set1_epi32)(1 << (kSecond - 1)));
  const Lanes samples = DC_V(srai_epi32)(DC_V(add_epi32)(rounded, turned), kSecond);
  const Lanes words = DC_V(packs_epi32)(samples, samples);
  return DC_V(packs_epi16)(words, words);
}

// Rows of `kSide` bytes of each block, one block beside the other.
template <int kSide>
inline void store_reduced(Lanes samples, uint8_t* out, int64_t stride) {
  const Lanes shown = exclusive_or(samples, DC_V(set1_epi8)(-128));
  uint8_t bytes[kLanes][16];
  std::memcpy(bytes, &shown, sizeof bytes);
  for (int y = 0; y < kSide; ++y)
    for (int lane = 0; lane < kLanes; ++lane)
      std::memcpy(out + y * stride + kSide * lane, bytes[lane] + kSide * y, kSide);
}

// Blocks without any detail.
template <int kSide>
inline void store_means(int16_t* blocks, int step, uint8_t* out, int64_t stride, bool& is_safe) {
  for (int lane = 0; lane < kLanes; ++lane) {
    int16_t& first = blocks[64 * lane];
    const int value = wrapped(first * step);
    first = 0;
    is_safe = is_safe && value >= -kSafe && value < kSafe;
    for (int y = 0; y < kSide; ++y)
      std::memset(out + y * stride + kSide * lane, flat_sample(value), kSide);
  }
}

template <int kSide>
inline bool reduce_row(int16_t* blocks, const uint8_t* counts, int64_t num_blocks,
                       const uint16_t* quantization, uint8_t* out, int64_t stride) {
  bool is_safe = true;
  Lanes unsafe = zero_lanes();
  Lanes steps[8];
  for (int i = 0; i < 8; ++i) steps[i] = in_each_lane(load_row(quantization + 8 * i));
  for (int64_t block = 0; block < num_blocks;
       block += kLanes, blocks += 64 * kLanes, out += kSide * kLanes, counts += kLanes) {
    if (counts[0] <= 1 && (kLanes == 1 || counts[1] <= 1)) {
      store_means<kSide>(blocks, quantization[0], out, stride, is_safe);
      continue;
    }
    Lanes v[8];
    for (int i = 0; i < 8; ++i)
      if (i != 4 && (kSide == 4 || i % 2 == 1 || i == 0))
        v[i] = DC_V(mullo_epi16)(load_rows(blocks, i), steps[i]);
    unsafe = either(unsafe, DC_V(srai_epi16)(DC_V(add_epi16)(v[0], DC_V(set1_epi16)(kSafe)), 14));
    if constexpr (kSide == 4)
      store_reduced<4>(block_of_4(v), out, stride);
    else
      store_reduced<2>(block_of_2(v, unsafe), out, stride);
    std::memset(blocks, 0, sizeof(int16_t) * 64 * kLanes);
  }
  alignas(32) int16_t found[8 * kLanes];
  std::memcpy(found, &unsafe, sizeof unsafe);
  for (const int16_t one : found) is_safe = is_safe && one == 0;
  return is_safe;
}

#undef DC_V
