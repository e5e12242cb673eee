// The entropy-coded data of a sequential JPEG file: reads coefficients of the groups of blocks
// (MCUs) that are wanted, and passes over the others faster. T.81, annex F.
#pragma once

#include "dali_core/kernels/jpeg/huffman_jpeg_file.hpp"
#include "dali_core/kernels/jpeg/jpeg_scan_data.hpp"

namespace dali_core {

// Where the coefficients of one row of MCUs go, for one component.
struct CoefficientRows {
  int16_t* blocks = nullptr;  // zeros, but for what is read
  uint8_t* counts = nullptr;  // of each block: how many coefficients it may have, in coded order
  int64_t blocks_per_row = 0;
  bool is_wanted = true;      // otherwise nothing is written
  bool is_mean_only = false;  // then no other coefficient is
};

// A block of a group (MCU), in the order in which they are coded.
struct GroupBlock {
  const HuffmanTable* dc = nullptr;
  const HuffmanTable* ac = nullptr;
  const uint32_t* pass_entries = nullptr;  // of `ac`
  int component = 0;
  bool is_mean_only = false;
  int16_t* coefficients = nullptr;  // of the first group; null if they are not wanted
  uint8_t* counts = nullptr;
  int64_t step = 0;  // blocks from one group to the next

  int16_t* place(int64_t group) const { return coefficients + 64 * (group * step); }
};

struct GroupPlan {
  int num_blocks = 0;
  GroupBlock blocks[HuffmanJpegFile::kMaxGroupBlocks];
};

// Between two groups.
struct ScanState {
  JpegBits bits;
  int32_t predictions[HuffmanJpegFile::kMaxComponents] = {};
};

class SequentialScan {
 public:
  // Whether points inside the scan of a file are of use.
  static bool has_points(const HuffmanJpegFile& file);

  // False if the data do not end as those of a sound file do. `file` must outlive the scan. From
  // `first` to before `end` are the groups that are wanted. `known` are points of the same file, or
  // null; if `notes`, more are noted on the way.
  bool open(const HuffmanJpegFile& file, const EncodedImage& encoded, int64_t first, int64_t end,
            const ScanPoints* known, bool notes);

  // How many blocks will be passed over, roughly: whether tables for that are worth their time.
  void expect_skipping(int64_t blocks);

  // Each continues where the last one stopped, if not behind `group`. False if the data are not
  // sound.
  bool skip_to(int64_t group);
  bool read(int64_t num_groups, const CoefficientRows* rows);
  // Whether more was read than there is.
  bool is_beyond_interval() const { return data_.is_beyond_interval(state_.bits); }
  // To be called after the last group of the image.
  bool is_at_end() const { return data_.is_at_end(state_.bits); }

  // Rows of groups that have all their points.
  int64_t known_rows() const { return num_known() / grid_.points_per_row; }
  // Whether `group` has been read before, by what noted the points.
  bool is_known(int64_t group) const {
    return num_known() > 0 && group <= grid_.group_of(num_known() - 1);
  }
  // Those that were noted, which follow the known ones.
  const ScanPoints& noted() const { return noted_; }

  void release_beyond(size_t bytes) { data_.release_beyond(bytes); }

 private:
  bool make_tables();
  // Notes a point, and starts the next restart interval, if one of them is here.
  bool start_run();
  int64_t num_known() const { return known_ == nullptr ? 0 : static_cast<int64_t>(known_->size()); }
  bool go_to(int64_t point, ScanState& state) const;
  void note_point();
  // Of groups that come next: how many up to the next restart or to the next point to note.
  int64_t left_in_run(int64_t num_groups) const;
  // A point near the middle of groups that come next; -1 if there is none.
  int64_t middle_point(int64_t num_groups) const;

  GroupPlan plan_blocks(const CoefficientRows* rows) const;
  bool skip_groups(int64_t num_groups);
  bool read_groups(int64_t num_groups, int64_t first, const CoefficientRows* rows);

  const HuffmanJpegFile* file_ = nullptr;
  JpegScanData data_;
  HuffmanTable dc_[HuffmanJpegFile::kTables], ac_[HuffmanJpegFile::kTables];
  bool has_skipping_ = false;

  ScanState state_;
  int64_t group_ = 0;  // next to read

  ScanGrid grid_;
  const ScanPoints* known_ = nullptr;
  bool notes_ = false;
  ScanPoints noted_;
  int64_t next_noted_ = 0;  // group
};

}  // namespace dali_core
