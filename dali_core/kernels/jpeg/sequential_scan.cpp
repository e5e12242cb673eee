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

bool SequentialScan::has_points(const HuffmanJpegFile& file) {
  const ScanGrid grid(file.group_columns(), 8 * file.horizontal);
  return !file.is_progressive && file.restart_interval == 0 &&
         file.num_components <= ScanPoint::kMaxComponents &&
         grid.points_per_row * file.group_rows() > 1;
}

bool SequentialScan::open(const HuffmanJpegFile& file, const EncodedImage& encoded, int64_t first,
                          int64_t end, const ScanPoints* known, bool notes) {
  file_ = &file;
  has_skipping_ = false;
  group_ = 0;
  grid_ = ScanGrid(file.group_columns(), 8 * file.horizontal);
  known_ = known;
  notes_ = notes;
  noted_.clear();
  next_noted_ = grid_.group_of(num_known());
  std::fill(std::begin(state_.predictions), std::end(state_.predictions), 0);
  data_.keep_stuffed(notes);
  if (!make_tables()) return false;
  if (num_known() > 0) {
    const int64_t start = std::min(grid_.point_before(first), num_known() - 1);
    const int64_t last = grid_.point_before(end - 1) + 1;
    group_ = grid_.group_of(start);
    return data_.take_part(encoded, file.position, (*known_)[static_cast<size_t>(start)],
                           last < num_known() ? known_->data() + last : nullptr) &&
           go_to(start, state_);
  }
  size_t position = file.position;
  if (!data_.take(encoded, position, file.group_rows() * file.group_columns(),
                  file.restart_interval))
    return false;
  if (encoded.data[position + 1] != kEndOfImage) return false;
  state_.bits = data_.start();
  return true;
}

bool SequentialScan::go_to(int64_t point, ScanState& state) const {
  const ScanPoint& found = (*known_)[static_cast<size_t>(point)];
  std::copy(std::begin(found.predictions), std::end(found.predictions), state.predictions);
  return data_.go_to(found, state.bits);
}

void SequentialScan::note_point() {
  ScanPoint point;
  if (!data_.find_point(state_.bits, point)) {
    notes_ = false;
    return;
  }
  std::copy_n(state_.predictions, ScanPoint::kMaxComponents, point.predictions);
  noted_.push_back(point);
  next_noted_ = grid_.group_of(num_known() + static_cast<int64_t>(noted_.size()));
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
        block.is_mean_only = rows[i].is_mean_only;
      }
    }
  }
  return plan;
}

bool SequentialScan::start_run() {
  if (notes_ && group_ == next_noted_) note_point();
  if (file_->restart_interval == 0 || group_ == 0 || group_ % file_->restart_interval != 0)
    return true;
  std::fill(std::begin(state_.predictions), std::end(state_.predictions), 0);
  return data_.start_next_interval(state_.bits);
}

int64_t SequentialScan::left_in_run(int64_t num_groups) const {
  const int64_t interval = file_->restart_interval;
  if (notes_ && next_noted_ > group_) num_groups = std::min(num_groups, next_noted_ - group_);
  return interval == 0 ? num_groups : std::min(num_groups, interval - group_ % interval);
}

int64_t SequentialScan::middle_point(int64_t num_groups) const {
  if (num_known() == 0) return -1;
  const int64_t point = grid_.point_before(group_ + (num_groups + grid_.spacing) / 2);
  const bool is_inside = point < num_known() && grid_.group_of(point) > group_ &&
                         grid_.group_of(point) < group_ + num_groups;
  return is_inside ? point : -1;
}

bool SequentialScan::skip_to(int64_t target) {
  const int64_t interval = file_->restart_interval;
  if (interval > 0 && target > group_) {
    // Intervals stand alone: those without a wanted group are not looked at.
    const int64_t first = target / interval;
    if (first > data_.interval() + 1) {
      if (is_beyond_interval() || first > data_.num_intervals()) return false;
      // The one before the wanted one counts as read.
      data_.go_to_end_of(first - 1, state_.bits);
      group_ = first * interval;
    }
  }
  if (num_known() > 0 && target > group_) {
    const int64_t point = std::min(grid_.point_before(target), num_known() - 1);
    if (grid_.group_of(point) > group_) {
      if (!go_to(point, state_)) return false;
      group_ = grid_.group_of(point);
    }
  }
  while (group_ < target) {
    if (!start_run()) return false;
    const int64_t count = left_in_run(target - group_);
    if (!skip_groups(count)) return false;
    group_ += count;
  }
  return true;
}

bool SequentialScan::read(int64_t num_groups, const CoefficientRows* rows) {
  for (int64_t done = 0; done < num_groups;) {
    if (!start_run()) return false;
    const int64_t count = left_in_run(num_groups - done);
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
  const GroupPlan plan = plan_blocks(rows);
  const uint8_t* const limit = data_.limit_of_block();
  const int64_t middle = middle_point(num_groups);
  if (middle < 0) return DC_SIMD_DISPATCH(read_groups, plan, limit, first, num_groups, state_);
  const int64_t before = grid_.group_of(middle) - group_, after = num_groups - before;
  const int64_t both = std::min(before, after);
  ScanState second;
  if (!go_to(middle, second)) return false;
  if (!DC_SIMD_DISPATCH(read_two, plan, limit, first, first + before, both, state_, second) ||
      !DC_SIMD_DISPATCH(read_groups, plan, limit, first + both, before - both, state_) ||
      !DC_SIMD_DISPATCH(read_groups, plan, limit, first + before + both, after - both, second))
    return false;
  // As of one stream: the first ends where the second began.
  if (!data_.is_at(state_.bits, (*known_)[static_cast<size_t>(middle)])) return false;
  state_ = second;
  return true;
}

}  // namespace dali_core
