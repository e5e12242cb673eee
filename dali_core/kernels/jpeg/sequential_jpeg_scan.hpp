// The entropy-coded data of a sequential JPEG file: reads coefficients of the groups of blocks
// (MCUs) that are wanted, and passes over the others faster. T.81, annex F.
#pragma once

#include <memory>
#include <vector>

#include "dali_core/kernels/jpeg/sequential_jpeg_file.hpp"

namespace dali_core {

// Memory that grows and is not cleared.
template <typename T>
class GrowingMemory {
 public:
  // What it held before is lost when it grows.
  T* at_least(size_t count) {
    if (count > size_) {
      memory_.reset();
      size_ = 0;
      memory_.reset(new T[count]);
      size_ = count;
    }
    return memory_.get();
  }
  T* get() const { return memory_.get(); }
  void release_beyond(size_t count) {
    if (size_ <= count) return;
    memory_.reset();
    size_ = 0;
  }

 private:
  std::unique_ptr<T[]> memory_;
  size_t size_ = 0;
};

// Where the coefficients of one row of MCUs go, for one component.
struct CoefficientRows {
  int16_t* blocks = nullptr;  // zeros, but for what is read
  uint8_t* counts = nullptr;  // of each block: how many coefficients it may have, in coded order
  int64_t blocks_per_row = 0;
  bool is_wanted = true;  // otherwise nothing is written
};

class SequentialScan {
 public:
  // False if the data do not end as those of a sound file do. `file` must outlive the scan.
  bool open(const SequentialJpegFile& file, const EncodedImage& encoded);

  // How many blocks will be passed over, roughly: whether tables for that are worth their time.
  void expect_skipping(int64_t blocks);

  // Each goes on where the last one stood. False if the data are not sound.
  bool skip(int64_t num_groups);
  bool read(int64_t num_groups, const CoefficientRows* rows);
  // Whether more was read than there is.
  bool is_beyond_interval() const;
  // To be called after the last group of the image.
  bool is_at_end() const;

  void release_beyond(size_t bytes) { data_.release_beyond(bytes); }

 private:
  bool copy_data(const EncodedImage& encoded);
  bool make_tables();
  // Starts the next restart interval, if one starts here.
  bool start_interval();
  bool is_at_end_of_interval() const;
  int64_t left_in_interval(int64_t num_groups) const;

  bool skip_groups(int64_t num_groups);
  bool read_groups(int64_t num_groups, int64_t first, const CoefficientRows* rows);

  const SequentialJpegFile* file_ = nullptr;
  GrowingMemory<uint8_t> data_;  // without stuffed bytes
  std::vector<size_t> ends_;     // of the restart intervals in it
  const uint8_t* limit_ = nullptr;
  HuffmanTable dc_[SequentialJpegFile::kTables], ac_[SequentialJpegFile::kTables];
  bool has_skipping_ = false;

  JpegBits bits_;
  int64_t group_ = 0;  // next to read
  size_t interval_ = 0;
  int32_t predictions_[SequentialJpegFile::kMaxComponents] = {};
};

}  // namespace dali_core
