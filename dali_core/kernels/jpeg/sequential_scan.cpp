#include "dali_core/kernels/jpeg/sequential_scan.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace dali_core {
namespace {

constexpr uint8_t kEndOfImage = 0xD9;
constexpr int kBlock = 64;

bool is_unknown(uint32_t entry) { return (entry & huffman_entry::kIsUnknown) != 0; }

}  // namespace
}  // namespace dali_core

#define DC_SIMD_SOURCE "dali_core/kernels/jpeg/sequential_blocks.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

bool SequentialScan::open(const HuffmanJpegFile& file, const EncodedImage& encoded) {
  file_ = &file;
  has_skipping_ = false;
  group_ = 0;
  size_t position = file.position;
  if (!data_.take(encoded, position, file.group_rows() * file.group_columns(),
                  file.restart_interval))
    return false;
  if (encoded.data[position + 1] != kEndOfImage || !make_tables()) return false;
  state_.bits = data_.start();
  std::fill(std::begin(state_.predictions), std::end(state_.predictions), 0);
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

GroupPlan SequentialScan::plan_blocks(const CoefficientRows* rows) const {
  GroupPlan plan;
  for (int i = 0; i < file_->num_components; ++i) {
    const HuffmanJpegComponent& part = file_->components[i];
    const HuffmanTable& ac = ac_[part.ac_table];
    for (int y = 0; y < part.vertical; ++y) {
      for (int x = 0; x < part.horizontal; ++x) {
        GroupBlock& block = plan.blocks[plan.num_blocks++];
        block.dc = &dc_[part.dc_table];
        block.ac = &ac;
        block.pass_entries = has_skipping_ ? ac.skip_entries() : ac.entries();
        block.component = i;
        block.step = part.horizontal;
        if (rows == nullptr || !rows[i].is_wanted) continue;
        const int64_t place = y * rows[i].blocks_per_row + x;
        block.coefficients = rows[i].blocks + kBlock * place;
        block.counts = rows[i].counts + place;
      }
    }
  }
  return plan;
}

bool SequentialScan::start_interval() {
  if (file_->restart_interval == 0 || group_ == 0 || group_ % file_->restart_interval != 0)
    return true;
  std::fill(std::begin(state_.predictions), std::end(state_.predictions), 0);
  return data_.start_next_interval(state_.bits);
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
      data_.go_to_end_of(first - 1, state_.bits);
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
  return DC_SIMD_DISPATCH(pass_groups, plan_blocks(nullptr), data_.limit_of_block(), num_groups,
                          state_);
}

bool SequentialScan::read_groups(int64_t num_groups, int64_t first, const CoefficientRows* rows) {
  return DC_SIMD_DISPATCH(read_groups, plan_blocks(rows), data_.limit_of_block(), first, num_groups,
                          state_);
}

}  // namespace dali_core
