#include "dali_core/kernels/jpeg/sequential_scan.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace dali_core {
namespace {

constexpr uint8_t kEndOfImage = 0xD9;
constexpr int kBlock = 64;

// What one component needs while its blocks are read.
struct BlockCodes {
  const HuffmanTable* dc;
  const HuffmanTable* ac;
};

bool is_unknown(uint32_t entry) { return (entry & huffman_entry::kIsUnknown) != 0; }

inline bool read_dc(JpegBits& bits, const HuffmanTable& table, int32_t& prediction) {
  const uint32_t entry = table.symbol(bits);
  bits.consume(entry);
  prediction += huffman_entry::value(entry);
  return !is_unknown(entry) && prediction == static_cast<int16_t>(prediction);
}

// Whether a block ended where it may: behind its last coefficient, or by the code for the end.
bool is_end(int k) { return k == kBlock || k >= huffman_entry::kEndOfBlock; }

// Reads a block whose coefficients are zero. `count` is how many may not be.
inline bool read_block(JpegBits& bits, const BlockCodes& codes, int32_t& prediction, int16_t* block,
                       uint8_t& count) {
  bits.refill();
  if (!read_dc(bits, *codes.dc, prediction)) return false;
  block[0] = static_cast<int16_t>(prediction);
  const uint32_t* const entries = codes.ac->entries();
  int k = 1;
  // A refill lasts for two symbols.
  for (;;) {
    uint32_t first = entries[bits.peek(HuffmanTable::kLookupBits)];
    if (!HuffmanTable::is_whole(first)) {
      first = codes.ac->whole_symbol(first, bits.peek(32));
      if (is_unknown(first)) return false;
    }
    bits.consume(first);
    k += huffman_entry::advance(first);
    block[kJpegOrder[k - 1]] = static_cast<int16_t>(huffman_entry::value(first));
    if (k >= kBlock) break;
    bits.refill();
    uint32_t second = entries[bits.peek(HuffmanTable::kLookupBits)];
    if (!HuffmanTable::is_whole(second)) {
      second = codes.ac->whole_symbol(second, bits.peek(32));
      if (is_unknown(second)) return false;
    }
    bits.consume(second);
    k += huffman_entry::advance(second);
    block[kJpegOrder[k - 1]] = static_cast<int16_t>(huffman_entry::value(second));
    if (k >= kBlock) break;
  }
  count = static_cast<uint8_t>(k & (huffman_entry::kEndOfBlock - 1));
  return is_end(k);
}

inline bool pass_block(JpegBits& bits, const BlockCodes& codes, int32_t& prediction,
                       bool has_skipping) {
  bits.refill();
  if (!read_dc(bits, *codes.dc, prediction)) return false;
  const uint32_t* const entries = has_skipping ? codes.ac->skip_entries() : codes.ac->entries();
  int k = 1;
  do {
    bits.refill();
    uint32_t entry = entries[bits.peek(HuffmanTable::kLookupBits)];
    int next = k + huffman_entry::advance(entry);
    // Not if some of the symbols are those of the next block.
    const bool fits = next <= kBlock || (next > huffman_entry::kEndOfBlock &&
                                         next < huffman_entry::kEndOfBlock + kBlock);
    if (!HuffmanTable::is_whole(entry) || __builtin_expect(!fits, 0)) {
      entry = codes.ac->symbol(bits);
      if (is_unknown(entry)) return false;
      next = k + huffman_entry::advance(entry);
    }
    bits.consume(entry);
    k = next;
  } while (k < kBlock);
  return is_end(k);
}

}  // namespace

bool SequentialScan::open(const HuffmanJpegFile& file, const EncodedImage& encoded) {
  file_ = &file;
  has_skipping_ = false;
  group_ = 0;
  size_t position = file.position;
  if (!data_.take(encoded, position, file.group_rows() * file.group_columns(),
                  file.restart_interval))
    return false;
  if (encoded.data[position + 1] != kEndOfImage || !make_tables()) return false;
  bits_ = data_.start();
  std::fill(std::begin(predictions_), std::end(predictions_), 0);
  return true;
}

bool SequentialScan::make_tables() {
  bool has_dc[HuffmanJpegFile::kTables] = {}, has_ac[HuffmanJpegFile::kTables] = {};
  for (int i = 0; i < file_->num_components; ++i) {
    const HuffmanJpegComponent& part = file_->components[i];
    bool& dc = has_dc[part.dc_table];
    bool& ac = has_ac[part.ac_table];
    if (!dc && !dc_[part.dc_table].build(file_->dc[part.dc_table], HuffmanUse::kDifferences))
      return false;
    if (!ac && !ac_[part.ac_table].build(file_->ac[part.ac_table], HuffmanUse::kCoefficients))
      return false;
    dc = ac = true;
  }
  return true;
}

void SequentialScan::expect_skipping(int64_t blocks) {
  constexpr int64_t kWorthTables = 2000;
  if (has_skipping_ || blocks < kWorthTables) return;
  bool done[HuffmanJpegFile::kTables] = {};
  for (int i = 0; i < file_->num_components; ++i) {
    const int table = file_->components[i].ac_table;
    if (!done[table]) ac_[table].build_skipping();
    done[table] = true;
  }
  has_skipping_ = true;
}

bool SequentialScan::start_interval() {
  if (file_->restart_interval == 0 || group_ == 0 || group_ % file_->restart_interval != 0)
    return true;
  std::fill(std::begin(predictions_), std::end(predictions_), 0);
  return data_.start_next_interval(bits_);
}

int64_t SequentialScan::left_in_interval(int64_t num_groups) const {
  const int64_t interval = file_->restart_interval;
  return interval == 0 ? num_groups : std::min(num_groups, interval - group_ % interval);
}

bool SequentialScan::skip(int64_t num_groups) {
  const int64_t interval = file_->restart_interval;
  if (interval > 0 && num_groups > 0) {
    // Intervals stand alone: those without a wanted group are not looked at.
    const int64_t target = group_ + num_groups;
    const int64_t first = target / interval;
    if (first > data_.interval() + 1) {
      if (is_beyond_interval() || first > data_.num_intervals()) return false;
      // The one before the wanted one counts as read.
      data_.go_to_end_of(first - 1, bits_);
      group_ = first * interval;
      num_groups = target - group_;
    }
  }
  while (num_groups > 0) {
    if (!start_interval()) return false;
    const int64_t count = left_in_interval(num_groups);
    if (!skip_groups(count)) return false;
    group_ += count;
    num_groups -= count;
  }
  return true;
}

bool SequentialScan::read(int64_t num_groups, const CoefficientRows* rows) {
  for (int64_t done = 0; done < num_groups;) {
    if (!start_interval()) return false;
    const int64_t count = left_in_interval(num_groups - done);
    if (!read_groups(count, done, rows)) return false;
    group_ += count;
    done += count;
  }
  return true;
}

bool SequentialScan::skip_groups(int64_t num_groups) {
  JpegBits bits = bits_;
  for (int64_t group = 0; group < num_groups; ++group) {
    for (int i = 0; i < file_->num_components; ++i) {
      const HuffmanJpegComponent& part = file_->components[i];
      const BlockCodes codes{&dc_[part.dc_table], &ac_[part.ac_table]};
      for (int block = part.horizontal * part.vertical; block > 0; --block)
        if (!data_.has_room_for_block(bits) ||
            !pass_block(bits, codes, predictions_[i], has_skipping_))
          return false;
    }
  }
  bits_ = bits;
  return true;
}

bool SequentialScan::read_groups(int64_t num_groups, int64_t first, const CoefficientRows* rows) {
  JpegBits bits = bits_;
  for (int64_t group = first; group < first + num_groups; ++group) {
    for (int i = 0; i < file_->num_components; ++i) {
      const HuffmanJpegComponent& part = file_->components[i];
      const BlockCodes codes{&dc_[part.dc_table], &ac_[part.ac_table]};
      const CoefficientRows& target = rows[i];
      for (int y = 0; y < part.vertical; ++y) {
        int64_t block = y * target.blocks_per_row + group * part.horizontal;
        for (int x = 0; x < part.horizontal; ++x, ++block) {
          if (!data_.has_room_for_block(bits)) return false;
          const bool is_sound =
              target.is_wanted ? read_block(bits, codes, predictions_[i],
                                            target.blocks + kBlock * block, target.counts[block])
                               : pass_block(bits, codes, predictions_[i], has_skipping_);
          if (!is_sound) return false;
        }
      }
    }
  }
  bits_ = bits;
  return true;
}

}  // namespace dali_core
