// The scans of a progressive file that add a bit to coefficients: to be included inside the
// namespace of an instruction set (see simd.hpp), hence without guard. What is taken bit by bit in
// the standard is taken here for all known coefficients between two new ones at once.

#if DC_SIMD_BYTES >= 32
inline int count_bits(uint64_t bits) { return static_cast<int>(_mm_popcnt_u64(bits)); }

// The bits of `number`, from its lowest, where `mask` has ones, from its lowest.
inline uint64_t deposit(uint64_t number, uint64_t mask) { return _pdep_u64(number, mask); }

// The `n`th one from the top, counted from 1, of at least so many.
inline uint64_t nth_one(uint64_t bits, int n) {
  return _pdep_u64(uint64_t{1} << (count_bits(bits) - n), bits);
}
#else
inline int count_bits(uint64_t bits) { return __builtin_popcountll(bits); }

inline uint64_t deposit(uint64_t number, uint64_t mask) {
  uint64_t result = 0;
  for (; number != 0; number >>= 1, mask &= mask - 1)
    if ((number & 1) != 0) result |= mask & (~mask + 1);
  return result;
}

inline uint64_t nth_one(uint64_t bits, int n) {
  for (; n > 1; --n) bits &= ~(kHighest >> __builtin_clzll(bits));
  return kHighest >> __builtin_clzll(bits);
}
#endif

// Reads a bit for each one of `which`, which are at most 56.
inline uint64_t read_some(JpegBits& bits, uint64_t which) {
  bits.refill();
  const int count = count_bits(which);
  const uint64_t found = deposit(bits.peek_long(count), which);
  bits.consume(static_cast<uint32_t>(count));
  return found;
}

inline uint64_t read_for_each(JpegBits& bits, uint64_t which) {
  constexpr uint64_t kUpper = ~uint64_t{0} << 32;
  if (__builtin_expect(count_bits(which) <= 56, 1)) return read_some(bits, which);
  const uint64_t upper = read_some(bits, which & kUpper);
  return upper | read_some(bits, which & ~kUpper);
}

inline bool refine_blocks(JpegBits& at, const Refinement& scan, BlocksInOrder place,
                          int64_t num_blocks) {
  const int step = 1 << scan.lowest;
  JpegBits bits = at;
  int64_t ended = 0;  // blocks without more new coefficients, from this one on
  for (; num_blocks > 0; --num_blocks, place.advance()) {
    uint64_t& known_before = scan.known[place.index()];
    uint64_t known = known_before;
    if (ended > 0 && (known & scan.band) == 0) {
      --ended;
      continue;
    }
    if (!scan.data->has_room_for_block(bits)) return false;
    int16_t* const block = scan.blocks + kBlock * place.index();
    uint64_t left = scan.band, corrected = 0;
    while (ended == 0 && left != 0) {
      bits.refill();
      const uint32_t entry = scan.table->symbol(bits);
      if (is_unknown(entry)) return false;
      bits.consume(entry);
      const int advance = huffman_entry::advance(entry), value = huffman_entry::value(entry);
      if (advance == huffman_entry::kEndOfBlock) {
        ended = read_run(bits, entry);
        break;
      }
      // Zeros are counted without the coefficients that are known, which get their bits in between.
      const uint64_t zeros = left & ~known;
      if (value < -1 || value > 1 || advance > count_bits(zeros)) return false;
      const uint64_t found = nth_one(zeros, advance), behind = found - 1;
      corrected |= read_for_each(bits, left & known & ~behind);
      left &= behind;
      if (value == 0) continue;
      block[kJpegOrder[__builtin_clzll(found)]] = static_cast<int16_t>(value * step);
      known |= found;
    }
    known_before = known;
    if (ended > 0) {
      corrected |= read_for_each(bits, left & known);
      --ended;
    }
    for (; corrected != 0; corrected &= corrected - 1) {
      int16_t& value = block[kJpegOrder[63 - __builtin_ctzll(corrected)]];
      value = static_cast<int16_t>(value + (value < 0 ? -step : step));
    }
  }
  at = bits;
  return ended == 0;
}
