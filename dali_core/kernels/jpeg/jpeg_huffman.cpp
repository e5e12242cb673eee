#include "dali_core/kernels/jpeg/jpeg_huffman.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>

namespace dali_core {

namespace {

constexpr int kMaxBits = 16;

uint32_t make_entry(int bits, uint32_t flags, int advance, int value) {
  return static_cast<uint32_t>(value) << 16 | static_cast<uint32_t>(advance) << 8 | flags |
         static_cast<uint32_t>(bits);
}

// A number of `size` bits as T.81 codes it: without its leading zero if negative (F.2.2.1).
int extended(uint32_t bits, int size) {
  const int number = static_cast<int>(bits);
  return number >= 1 << (size - 1) ? number : number - (1 << size) + 1;
}

int size_of_value(int value) {
  return value == 0 ? 0 : 32 - __builtin_clz(static_cast<unsigned>(std::abs(value)));
}

}  // namespace

uint32_t HuffmanTable::entry_of_symbol(int symbol, int length) const {
  const int size = symbol & 15, run = symbol >> 4;
  if (use_ == HuffmanUse::kDifferences) {
    if (symbol > kMaxDifferenceBits) return 0;
    return make_entry(length, size > 0 ? huffman_entry::kNeedsValue : 0, 0, size);
  }
  constexpr int kZeros = 0xF0;
  if (symbol == kZeros) return make_entry(length, 0, 16, 0);
  if (symbol == 0 || (size == 0 && use_ == HuffmanUse::kBand))
    return make_entry(length, 0, huffman_entry::kEndOfBlock, run);
  if (size == 0 || size > kMaxCoefficientBits) return 0;
  return make_entry(length, huffman_entry::kNeedsValue, run + 1, size);
}

bool HuffmanTable::build(const HuffmanDefinition& definition, HuffmanUse use) {
  use_ = use;
  std::copy(std::begin(definition.symbols), std::end(definition.symbols), symbols_);
  uint32_t code = 0;
  int place = 0;
  int filled = 0;  // entries
  for (int length = 1; length <= kMaxBits; ++length) {
    const int count = definition.counts[length];
    offsets_[length] = place - static_cast<int32_t>(code);
    for (int i = 0; i < count; ++i, ++code, ++place) {
      if (place >= 256) return false;
      const int symbol = symbols_[place];
      // Also the library's limit, whether or not the code is used.
      if (use == HuffmanUse::kDifferences && symbol > 15) return false;
      if (length > kLookupBits) continue;
      const int span = 1 << (kLookupBits - length);
      if (filled + span > kSize) return false;
      const uint32_t entry = entry_of_symbol(symbol, length);
      uint32_t* const out = entries_ + filled;
      filled += span;
      const int size = symbol & 15;
      if (entry == 0) {
        std::fill_n(out, span, huffman_entry::kIsUnknown);
      } else if ((entry & huffman_entry::kNeedsValue) == 0 || length + size > kLookupBits) {
        std::fill_n(out, span, entry);
      } else {
        const int each = 1 << (kLookupBits - length - size);
        for (int value = 0; value < 1 << size; ++value)
          std::fill_n(out + value * each, each,
                      make_entry(length + size, 0, huffman_entry::advance(entry),
                                 extended(static_cast<uint32_t>(value), size)));
      }
    }
    // No code may be all ones.
    if (count > 0 && code >= uint32_t{1} << length) return false;
    ends_[length] = code << (kMaxBits - length);
    code <<= 1;
  }
  ends_[kMaxBits + 1] = ~uint32_t{0};
  std::fill(entries_ + filled, entries_ + kSize, huffman_entry::kIsUnknown);
  return place > 0;
}

uint32_t HuffmanTable::whole_symbol(uint32_t found, uint32_t next_bits) const {
  if ((found & huffman_entry::kIsUnknown) != 0) {
    const uint32_t code = next_bits >> (32 - kMaxBits);
    int length = 1;
    while (code >= ends_[length]) ++length;
    if (length > kMaxBits) return huffman_entry::kIsUnknown;
    const int place = static_cast<int>(code >> (kMaxBits - length)) + offsets_[length];
    if (place < 0 || place > 255) return huffman_entry::kIsUnknown;
    found = entry_of_symbol(symbols_[place], length);
    if (found == 0) return huffman_entry::kIsUnknown;
    if ((found & huffman_entry::kNeedsValue) == 0) return found;
  }
  const int length = static_cast<int>(found & huffman_entry::kBitsMask);
  const int size = huffman_entry::value(found);
  const uint32_t value = next_bits << length >> (32 - size);
  return make_entry(length + size, 0, huffman_entry::advance(found), extended(value, size));
}

void HuffmanTable::build_skipping() {
  for (int shown = 0; shown < kSize; ++shown) {
    int known = kLookupBits, bits = 0, advance = 0;
    while (known > 0 && advance < huffman_entry::kEndOfBlock) {
      const uint32_t entry = entries_[(shown << (kLookupBits - known)) & (kSize - 1)];
      if ((entry & huffman_entry::kIsUnknown) != 0) break;
      const int shown_bits = static_cast<int>(entry & huffman_entry::kBitsMask);
      const int value = huffman_entry::value(entry);
      // The code alone must be known, not its value.
      const bool needs_value = (entry & huffman_entry::kNeedsValue) != 0;
      const int code_bits = needs_value ? shown_bits : shown_bits - size_of_value(value);
      if (code_bits > known) break;
      const int step = huffman_entry::advance(entry);
      if (step < huffman_entry::kEndOfBlock && advance + step > 63) break;
      const int all_bits = needs_value ? shown_bits + value : shown_bits;
      bits += all_bits;
      advance += step;
      known -= all_bits;
    }
    skipping_[shown] = bits == 0 ? huffman_entry::kIsUnknown : make_entry(bits, 0, advance, 0);
  }
}

}  // namespace dali_core
