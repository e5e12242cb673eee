#include "dali_core/kernels/jpeg/progressive_scans.hpp"

#include <algorithm>
#include <cstring>

#include "dali_core/simd.hpp"

#if DC_SIMD_X86
#include <immintrin.h>
#endif

namespace dali_core {
namespace {

constexpr int kBlock = 64;
constexpr int64_t kSide = 8;
// Of the bits that say which coefficients are known, that of the first one.
constexpr uint64_t kHighest = uint64_t{1} << 63;

bool is_unknown(uint32_t entry) { return (entry & huffman_entry::kIsUnknown) != 0; }

// How many blocks end with an end-of-band symbol, whose entry has been consumed.
inline int64_t read_run(JpegBits& bits, uint32_t entry) {
  const int size = huffman_entry::value(entry);
  if (size == 0) return 1;
  const int64_t run = (int64_t{1} << size) + bits.peek(size);
  bits.consume(static_cast<uint32_t>(size));
  return run;
}

// Blocks of one component in the order of a scan of its own.
class BlocksInOrder {
 public:
  BlocksInOrder(int64_t first, int64_t columns, int64_t stride)
      : column_(first % columns),
        columns_(columns),
        padding_(stride - columns),
        index_(first / columns * stride + column_) {}

  int64_t index() const { return index_; }
  void advance() {
    ++index_;
    if (++column_ < columns_) return;
    column_ = 0;
    index_ += padding_;
  }
  void advance(int64_t count) {
    const int64_t rows = (column_ + count) / columns_;
    column_ = (column_ + count) % columns_;
    index_ += count + rows * padding_;
  }

 private:
  int64_t column_, columns_, padding_, index_;
};

// What a scan that adds a bit to coefficients is about.
struct Refinement {
  const JpegScanData* data = nullptr;
  const HuffmanTable* table = nullptr;
  int16_t* blocks = nullptr;
  uint64_t* known = nullptr;
  uint64_t band = 0;
  int lowest = 0;
};

bool has_fast_deposit() {
#if DC_SIMD_X86
  // There the instruction takes as long as a loop.
  static const bool is_slow = __builtin_cpu_is("znver1") || __builtin_cpu_is("znver2");
  return !is_slow;
#else
  return true;
#endif
}

}  // namespace
}  // namespace dali_core

#define DC_SIMD_SOURCE "dali_core/kernels/jpeg/progressive_bits.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

bool ProgressiveScans::read(HuffmanJpegFile& file, const EncodedImage& encoded, int num_wanted) {
  file_ = &file;
  plan(num_wanted);
  for (;;) {
    size_t position = file.position;
    if (!read_scan(encoded, position)) return false;
    switch (file.read_on(encoded, position)) {
      case HuffmanJpegFile::Next::kScan:
        break;
      case HuffmanJpegFile::Next::kEnd:
        return file.is_complete();
      case HuffmanJpegFile::Next::kUnsound:
        return false;
    }
  }
}

void ProgressiveScans::plan(int num_wanted) {
  for (int i = 0; i < file_->num_components; ++i) {
    const HuffmanJpegComponent& part = file_->components[i];
    Coefficients& all = coefficients_[i];
    const int64_t vertical = kSide * file_->vertical;
    const int64_t horizontal = kSide * file_->horizontal;
    all.rows = (file_->height * part.vertical + vertical - 1) / vertical;
    all.columns = (file_->width * part.horizontal + horizontal - 1) / horizontal;
    all.stride = file_->group_columns() * part.horizontal + 1;
    all.is_wanted = i < num_wanted;
    if (!all.is_wanted) continue;
    const size_t blocks = static_cast<size_t>(file_->group_rows() * part.vertical * all.stride);
    std::memset(all.blocks.at_least(kBlock * blocks), 0, kBlock * blocks * sizeof(int16_t));
    std::memset(all.known.at_least(blocks), 0, blocks * sizeof(uint64_t));
  }
}

bool ProgressiveScans::read_scan(const EncodedImage& encoded, size_t& position) {
  const JpegScanHeader& scan = file_->scan;
  const Coefficients& only = coefficients_[scan.components[0]];
  const int64_t num_groups = scan.num_components == 1
                                 ? only.rows * only.columns
                                 : file_->group_rows() * file_->group_columns();
  const int64_t interval = file_->restart_interval;
  if (!data_.take(encoded, position, num_groups, interval)) return false;
  if (!scan.has_means()) {
    const int table = file_->components[scan.components[0]].ac_table;
    if (!ac_.build(file_->ac[table], HuffmanUse::kBand)) return false;
  } else if (!scan.is_refinement()) {
    for (int i = 0; i < scan.num_components; ++i) {
      const int table = file_->components[scan.components[i]].dc_table;
      if (!dc_[table].build(file_->dc[table], HuffmanUse::kDifferences)) return false;
    }
  }
  // No error of a library depends on what a component says that is not wanted.
  const auto is_wanted = [this](int component) { return coefficients_[component].is_wanted; };
  if (std::none_of(scan.components, scan.components + scan.num_components, is_wanted)) return true;

  JpegBits bits = data_.start();
  for (int64_t group = 0; group < num_groups;) {
    if (group > 0 && !data_.start_next_interval(bits)) return false;
    const int64_t left = num_groups - group;
    const int64_t count = interval == 0 ? left : std::min(left, interval);
    const bool is_sound = scan.has_means() ? scan.is_refinement() ? refine_means(bits, group, count)
                                                                  : read_means(bits, group, count)
                          : scan.is_refinement() ? refine_band(bits, group, count)
                                                 : read_band(bits, group, count);
    if (!is_sound) return false;
    group += count;
  }
  return data_.is_at_end(bits);
}

// Calls `action` with the component of each block, and the block, until it fails.
template <typename Action>
bool ProgressiveScans::for_each_block(int64_t first_group, int64_t num_groups,
                                      const Action& action) {
  const JpegScanHeader& scan = file_->scan;
  if (scan.num_components == 1) {
    const int i = scan.components[0];
    const Coefficients& only = coefficients_[i];
    BlocksInOrder place(first_group, only.columns, only.stride);
    for (; num_groups > 0; --num_groups, place.advance())
      if (!action(i, only.blocks.get() + kBlock * place.index())) return false;
    return true;
  }
  int16_t unwanted[kBlock];
  const int64_t columns = file_->group_columns();
  int64_t row = first_group / columns, column = first_group % columns;
  for (; num_groups > 0; --num_groups) {
    for (int number = 0; number < scan.num_components; ++number) {
      const int i = scan.components[number];
      const HuffmanJpegComponent& part = file_->components[i];
      const Coefficients& all = coefficients_[i];
      for (int y = 0; y < part.vertical; ++y) {
        const int64_t first = (row * part.vertical + y) * all.stride + column * part.horizontal;
        for (int x = 0; x < part.horizontal; ++x) {
          unwanted[0] = 0;
          int16_t* const block = all.is_wanted ? all.blocks.get() + kBlock * (first + x) : unwanted;
          if (!action(i, block)) return false;
        }
      }
    }
    if (++column < columns) continue;
    column = 0;
    ++row;
  }
  return true;
}

bool ProgressiveScans::read_means(JpegBits& at, int64_t first_group, int64_t num_groups) {
  const int lowest = 1 << file_->scan.lowest;
  int32_t predictions[HuffmanJpegFile::kMaxComponents] = {};
  JpegBits bits = at;
  const bool is_sound = for_each_block(first_group, num_groups, [&](int i, int16_t* block) {
    if (!data_.has_room_for_block(bits)) return false;
    bits.refill();
    const uint32_t entry = dc_[file_->components[i].dc_table].symbol(bits);
    bits.consume(entry);
    int32_t& prediction = predictions[i];
    prediction += huffman_entry::value(entry);
    const int32_t value = prediction * lowest;
    block[0] = static_cast<int16_t>(value);
    return !is_unknown(entry) && block[0] == value;
  });
  at = bits;
  return is_sound;
}

bool ProgressiveScans::refine_means(JpegBits& at, int64_t first_group, int64_t num_groups) {
  const int shift = file_->scan.lowest;
  JpegBits bits = at;
  const bool is_sound = for_each_block(first_group, num_groups, [&](int, int16_t* block) {
    if (!data_.has_room_for_block(bits)) return false;
    bits.refill();
    block[0] = static_cast<int16_t>(block[0] | static_cast<int>(bits.peek(1)) << shift);
    bits.consume(1);
    return true;
  });
  at = bits;
  return is_sound;
}

bool ProgressiveScans::read_band(JpegBits& at, int64_t first_block, int64_t num_blocks) {
  const JpegScanHeader& scan = file_->scan;
  const int first = scan.first, behind = scan.last + 1, lowest = 1 << scan.lowest;
  Coefficients& all = coefficients_[scan.components[0]];
  BlocksInOrder place(first_block, all.columns, all.stride);
  JpegBits bits = at;
  while (num_blocks > 0) {
    if (!data_.has_room_for_block(bits)) return false;
    int16_t* const block = all.blocks.get() + kBlock * place.index();
    uint64_t known = 0;
    int64_t ended = 1;
    for (int k = first; k < behind;) {
      bits.refill();
      const uint32_t entry = ac_.symbol(bits);
      if (is_unknown(entry)) return false;
      bits.consume(entry);
      if (huffman_entry::advance(entry) == huffman_entry::kEndOfBlock) {
        ended = read_run(bits, entry);
        break;
      }
      k += huffman_entry::advance(entry);
      if (k > behind) return false;
      const int value = huffman_entry::value(entry);
      block[kJpegOrder[k - 1]] = static_cast<int16_t>(value * lowest);
      known |= uint64_t{value != 0} << (kBlock - k);
    }
    all.known.get()[place.index()] |= known;
    if (ended > num_blocks) return false;
    num_blocks -= ended;
    if (ended == 1)
      place.advance();
    else
      place.advance(ended);
  }
  at = bits;
  return true;
}

bool ProgressiveScans::refine_band(JpegBits& bits, int64_t first_block, int64_t num_blocks) {
  const JpegScanHeader& scan = file_->scan;
  const Coefficients& all = coefficients_[scan.components[0]];
  Refinement refinement;
  refinement.data = &data_;
  refinement.table = &ac_;
  refinement.blocks = all.blocks.get();
  refinement.known = all.known.get();
  refinement.band = ~uint64_t{0} >> scan.first & ~uint64_t{0} << (kBlock - 1 - scan.last);
  refinement.lowest = scan.lowest;
  const BlocksInOrder place(first_block, all.columns, all.stride);
  if (!has_fast_deposit()) return simd_baseline::refine_blocks(bits, refinement, place, num_blocks);
  return DC_SIMD_DISPATCH(refine_blocks, bits, refinement, place, num_blocks);
}

void ProgressiveScans::release_beyond(size_t bytes) {
  data_.release_beyond(bytes);
  for (Coefficients& all : coefficients_) {
    all.blocks.release_beyond(bytes / sizeof(int16_t));
    all.known.release_beyond(bytes / sizeof(uint64_t));
  }
}

}  // namespace dali_core
