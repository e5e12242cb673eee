// The entropy-coded data of one scan of a JPEG file, without stuffed bytes, and its restart
// intervals. ITU-T T.81, B.1.1.5 and F.1.2.3.
#pragma once

#include <memory>
#include <vector>

#include "dali_core/kernels/encoded_image/image_types.hpp"
#include "dali_core/kernels/jpeg/jpeg_huffman.hpp"

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

class JpegScanData {
 public:
  // Takes the data that begin at `position`, which becomes that of the marker behind them. The scan
  // has `num_groups` groups of blocks, with a restart marker behind every `restart_interval` of
  // them (0 for none). False if there is no other marker, or restart markers are missing.
  bool take(const EncodedImage& encoded, size_t& position, int64_t num_groups,
            int64_t restart_interval);

  // The first bits of the first interval.
  JpegBits start();
  // Bits have to be at the end of an interval, and are then at the start of the next one.
  bool start_next_interval(JpegBits& bits);
  // To the end of an interval, as if everything before had been read.
  void go_to_end_of(int64_t interval, JpegBits& bits);

  int64_t interval() const { return static_cast<int64_t>(interval_); }
  int64_t num_intervals() const { return static_cast<int64_t>(ends_.size()); }
  bool is_at_end_of_interval(const JpegBits& bits) const;
  // Whether more was read than there is.
  bool is_beyond_interval(const JpegBits& bits) const;
  bool is_at_end(const JpegBits& bits) const {
    return interval_ + 1 == ends_.size() && is_at_end_of_interval(bits);
  }

  // Whether a whole block may be read without a look at where the data end.
  bool has_room_for_block(const JpegBits& bits) const { return bits.next() <= limit_of_block(); }
  // The last place of the next byte where that is so.
  const uint8_t* limit_of_block() const { return limit_ + sizeof(uint64_t); }

  void release_beyond(size_t bytes) { data_.release_beyond(bytes); }

 private:
  GrowingMemory<uint8_t> data_;
  std::vector<size_t> ends_;  // of the restart intervals in it
  const uint8_t* limit_ = nullptr;
  size_t interval_ = 0;
};

}  // namespace dali_core
