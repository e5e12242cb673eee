// The blocks of a sequential scan: to be included inside the namespace of an instruction set (see
// simd.hpp), hence without guard. What makes the next look-up wait for the last one is short: a
// shift, a load and a shift, which newer processors do without flags and by any register.

// Whether an entry has not its value, or a block ends with it, at coefficient `k`: 64 and 128 are
// flags of the one, and bits of the other.
inline bool is_special(uint32_t entry, int k) {
  static_assert((huffman_entry::kNeedsValue | huffman_entry::kIsUnknown) == (kBlock | 2 * kBlock));
  return ((entry | static_cast<uint32_t>(k)) & (kBlock | 2 * kBlock)) != 0;
}

// Whether a block ended where it may: behind its last coefficient, or by the code for the end.
inline bool is_end(int k) { return k == kBlock || k >= huffman_entry::kEndOfBlock; }

inline bool read_dc(JpegBits& bits, const HuffmanTable& table, int32_t& prediction) {
  const uint32_t entry = table.symbol(bits);
  bits.consume(entry);
  prediction += huffman_entry::value(entry);
  return !is_unknown(entry) && prediction == static_cast<int16_t>(prediction);
}

inline void store(int16_t* block, int k, uint32_t entry) {
  block[kJpegOrder[k - 1]] = static_cast<int16_t>(huffman_entry::value(entry));
}

// Reads what follows coefficient `k - 1` of a block. Bits have been refilled, and a symbol may have
// been consumed since.
inline bool read_rest(JpegBits& bits, const HuffmanTable& ac, int k, int16_t* block,
                      uint8_t& count) {
  const uint32_t* const entries = ac.entries();
  for (;;) {
    uint32_t entry = entries[bits.peek(HuffmanTable::kLookupBits)];
    int next = k + huffman_entry::advance(entry);
    // A refill lasts for two symbols.
    if (!is_special(entry, next)) {
      bits.consume(entry);
      store(block, next, entry);
      k = next;
      bits.refill();
      entry = entries[bits.peek(HuffmanTable::kLookupBits)];
      next = k + huffman_entry::advance(entry);
      if (!is_special(entry, next)) {
        bits.consume(entry);
        store(block, next, entry);
        k = next;
        continue;
      }
    }
    if (!HuffmanTable::is_whole(entry)) {
      entry = ac.whole_symbol(entry, bits.peek(32));
      if (is_unknown(entry)) return false;
      next = k + huffman_entry::advance(entry);
    }
    bits.consume(entry);
    store(block, next, entry);
    k = next;
    if (k >= kBlock) break;
    bits.refill();
  }
  count = static_cast<uint8_t>(k & (huffman_entry::kEndOfBlock - 1));
  return is_end(k);
}

// Reads a block whose coefficients are zero. `count` is how many may not be.
inline bool read_block(JpegBits& bits, const HuffmanTable& dc, const HuffmanTable& ac,
                       int32_t& prediction, int16_t* block, uint8_t& count) {
  bits.refill();
  if (!read_dc(bits, dc, prediction)) return false;
  block[0] = static_cast<int16_t>(prediction);
  return read_rest(bits, ac, 1, block, count);
}

// Passes over a block by `entries`, of `ac`, that may have many symbols.
inline bool pass_block(JpegBits& bits, const HuffmanTable& dc, const HuffmanTable& ac,
                       const uint32_t* entries, int32_t& prediction) {
  bits.refill();
  if (!read_dc(bits, dc, prediction)) return false;
  int k = 1;
  for (;;) {
    bits.refill();
    uint32_t entry = entries[bits.peek(HuffmanTable::kLookupBits)];
    int next = k + huffman_entry::advance(entry);
    if (!is_special(entry, next)) {
      bits.consume(entry);
      k = next;
      // As above.
      entry = entries[bits.peek(HuffmanTable::kLookupBits)];
      next = k + huffman_entry::advance(entry);
      if (!is_special(entry, next)) {
        bits.consume(entry);
        k = next;
        continue;
      }
      bits.refill();
    }
    // Not if some of the symbols are those of the next block.
    const bool fits = next <= kBlock || (next > huffman_entry::kEndOfBlock &&
                                         next < huffman_entry::kEndOfBlock + kBlock);
    if (!HuffmanTable::is_whole(entry) || !fits) {
      entry = ac.symbol(bits);
      if (is_unknown(entry)) return false;
      next = k + huffman_entry::advance(entry);
    }
    bits.consume(entry);
    k = next;
    if (k >= kBlock) return is_end(k);
  }
}

inline bool pass_groups(const GroupPlan& plan, const uint8_t* limit, int64_t num_groups,
                        ScanState& state) {
  JpegBits bits = state.bits;
  for (int64_t group = 0; group < num_groups; ++group) {
    for (int i = 0; i < plan.num_blocks; ++i) {
      const GroupBlock& block = plan.blocks[i];
      if (bits.next() > limit || !pass_block(bits, *block.dc, *block.ac, block.pass_entries,
                                             state.predictions[block.component]))
        return false;
    }
  }
  state.bits = bits;
  return true;
}

inline bool is_read(const GroupBlock& block) {
  return block.coefficients != nullptr && !block.is_mean_only;
}

// Groups from `first` on, counted from the start of the rows that the plan has.
inline bool read_groups(const GroupPlan& plan, const uint8_t* limit, int64_t first,
                        int64_t num_groups, ScanState& state) {
  JpegBits bits = state.bits;
  for (int64_t group = first; group < first + num_groups; ++group) {
    for (int i = 0; i < plan.num_blocks; ++i) {
      const GroupBlock& block = plan.blocks[i];
      int32_t& prediction = state.predictions[block.component];
      if (bits.next() > limit) return false;
      const bool is_sound =
          is_read(block) ? read_block(bits, *block.dc, *block.ac, prediction, block.place(group),
                                      block.counts[group * block.step])
                         : pass_block(bits, *block.dc, *block.ac, block.pass_entries, prediction);
      if (!is_sound) return false;
      if (block.is_mean_only) *block.place(group) = static_cast<int16_t>(prediction);
    }
  }
  state.bits = bits;
  return true;
}

// Reads a block each of two streams, whose look-ups need not wait for each other.
inline bool read_pair(JpegBits& first, JpegBits& second, const GroupBlock& block,
                      int32_t* predictions, int64_t group, int64_t other_group) {
  int16_t* const to = block.place(group);
  int16_t* const other_to = block.place(other_group);
  JpegBits a = first, b = second;
  a.refill();
  b.refill();
  if (!read_dc(a, *block.dc, predictions[0]) || !read_dc(b, *block.dc, predictions[1]))
    return false;
  to[0] = static_cast<int16_t>(predictions[0]);
  other_to[0] = static_cast<int16_t>(predictions[1]);
  const uint32_t* const entries = block.ac->entries();
  int k = 1, other_k = 1;
  for (;;) {
    uint32_t entry = entries[a.peek(HuffmanTable::kLookupBits)];
    uint32_t other = entries[b.peek(HuffmanTable::kLookupBits)];
    int next = k + huffman_entry::advance(entry);
    int other_next = other_k + huffman_entry::advance(other);
    if (is_special(entry | other, next | other_next)) {
      if (!HuffmanTable::is_whole(entry)) {
        entry = block.ac->whole_symbol(entry, a.peek(32));
        next = k + huffman_entry::advance(entry);
      }
      if (!HuffmanTable::is_whole(other)) {
        other = block.ac->whole_symbol(other, b.peek(32));
        other_next = other_k + huffman_entry::advance(other);
      }
      if (is_special(entry | other, next | other_next)) break;
    }
    a.consume(entry);
    b.consume(other);
    store(to, next, entry);
    store(other_to, other_next, other);
    k = next;
    other_k = other_next;
    a.refill();
    b.refill();
  }
  first = a;
  second = b;
  return read_rest(first, *block.ac, k, to, block.counts[group * block.step]) &&
         read_rest(second, *block.ac, other_k, other_to, block.counts[other_group * block.step]);
}

// Reads as many groups of two streams, from `first` and from `other` on.
inline bool read_two(const GroupPlan& plan, const uint8_t* limit, int64_t first, int64_t other,
                     int64_t num_groups, ScanState& state, ScanState& other_state) {
  JpegBits a = state.bits, b = other_state.bits;
  for (int64_t group = 0; group < num_groups; ++group) {
    for (int i = 0; i < plan.num_blocks; ++i) {
      const GroupBlock& block = plan.blocks[i];
      if (a.next() > limit || b.next() > limit) return false;
      int32_t& prediction = state.predictions[block.component];
      int32_t& other_prediction = other_state.predictions[block.component];
      bool is_sound;
      if (is_read(block)) {
        int32_t predictions[2] = {prediction, other_prediction};
        is_sound = read_pair(a, b, block, predictions, first + group, other + group);
        prediction = predictions[0];
        other_prediction = predictions[1];
      } else {
        is_sound = pass_block(a, *block.dc, *block.ac, block.pass_entries, prediction) &&
                   pass_block(b, *block.dc, *block.ac, block.pass_entries, other_prediction);
      }
      if (!is_sound) return false;
      if (block.is_mean_only) {
        *block.place(first + group) = static_cast<int16_t>(prediction);
        *block.place(other + group) = static_cast<int16_t>(other_prediction);
      }
    }
  }
  state.bits = a;
  other_state.bits = b;
  return true;
}
