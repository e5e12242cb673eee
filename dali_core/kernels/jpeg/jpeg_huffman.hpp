// Huffman codes of JPEG (ITU-T T.81, annexes C and F) as tables that give, for the next bits of a
// scan, a coefficient in one look-up: how many zeros come before it, its value, and its bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace dali_core {

// A table as a file defines it.
struct HuffmanDefinition {
  bool is_defined = false;
  uint8_t counts[17] = {};  // of codes with so many bits
  uint8_t symbols[256] = {};
};

// What the symbols of a table say.
enum class HuffmanUse : int8_t {
  kDifferences,   // of the means of two blocks
  kCoefficients,  // of a sequential file
  kBand,          // coefficients of a progressive file, whose blocks may end many at once
};

// An entry is: bits to consume (6 bits), two flags, how far to advance in the block (8 bits), and a
// signed value (16 bits). The end of a block is an advance beyond any block; its value
// says, for a progressive file, how many bits follow for the number of blocks that end.
namespace huffman_entry {
constexpr uint32_t kBitsMask = 63;
constexpr uint32_t kNeedsValue = 64;  // the value has as many further bits as the entry's value
constexpr uint32_t kIsUnknown = 128;  // a longer code, or one that a sound file does not have
constexpr int kEndOfBlock = 128;

inline int advance(uint32_t entry) { return static_cast<int>(entry >> 8 & 255); }
inline int value(uint32_t entry) { return static_cast<int32_t>(entry) >> 16; }
}  // namespace huffman_entry

// Bits of a scan without stuffed bytes. Reads up to 8 bytes behind `next`.
class JpegBits {
 public:
  JpegBits() = default;
  explicit JpegBits(const uint8_t* first) : next_(first) {}

  // Makes 56 bits or more available.
  void refill() {
    uint64_t bytes;
    std::memcpy(&bytes, next_, sizeof bytes);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    bits_ |= bytes >> count_;
    next_ += (63 - count_) >> 3;
    count_ |= 56;
  }
  // `count` is 1 to 32.
  uint32_t peek(int count) const { return static_cast<uint32_t>(bits_ >> (64 - count)); }
  // `count` is 0 to 56.
  uint64_t peek_long(int count) const { return bits_ >> 1 >> (63 - count); }
  // The low six bits of `count` are the number.
  void consume(uint32_t count) {
    bits_ <<= count & huffman_entry::kBitsMask;
    count_ -= static_cast<int>(count & huffman_entry::kBitsMask);
  }

  const uint8_t* next() const { return next_; }
  // Bits from `first` to the first one that has not been consumed.
  int64_t position(const uint8_t* first) const { return (next_ - first) * 8 - count_; }

 private:
  uint64_t bits_ = 0;  // the first is the highest
  int count_ = 0;
  const uint8_t* next_ = nullptr;
};

class HuffmanTable {
 public:
  static constexpr int kLookupBits = 11;
  // Of a coefficient of 8-bit samples, and of a difference of two.
  static constexpr int kMaxCoefficientBits = 10, kMaxDifferenceBits = 11;

  // False if the definition is not sound.
  bool build(const HuffmanDefinition& definition, HuffmanUse use);
  // What `skip_entries` gives; only for those of a sequential file.
  void build_skipping();

  // By the next kLookupBits bits.
  const uint32_t* entries() const { return entries_; }
  // Entries of as many symbols as the bits show, without values. Advances of all but the end of the
  // block add up to less than 64.
  const uint32_t* skip_entries() const { return skipping_; }

  // Completes an entry that has not its value. `next_bits` are the 32 that come next, beginning
  // with the symbol. Of a symbol that no sound file has, the result has kIsUnknown.
  uint32_t whole_symbol(uint32_t found, uint32_t next_bits) const;

  // The entry of the next symbol with its value, whatever its length. `bits` has 32 or more.
  uint32_t symbol(const JpegBits& bits) const {
    const uint32_t found = entries_[bits.peek(kLookupBits)];
    // Bits go by value: what has an address is not kept in registers.
    return is_whole(found) ? found : whole_symbol(found, bits.peek(32));
  }

  static bool is_whole(uint32_t entry) {
    return __builtin_expect((entry & (huffman_entry::kNeedsValue | huffman_entry::kIsUnknown)) == 0,
                            1);
  }

 private:
  static constexpr int kSize = 1 << kLookupBits;

  // Zero if the symbol is none of a sound file.
  uint32_t entry_of_symbol(int symbol, int length) const;

  HuffmanUse use_ = HuffmanUse::kDifferences;
  uint32_t entries_[kSize];
  uint32_t skipping_[kSize];
  // Of codes with so many bits: one more than the largest, with 16 bits, and the place of code 0.
  uint32_t ends_[18];
  int32_t offsets_[18];
  uint8_t symbols_[256];
};

}  // namespace dali_core
