// The entropy-coded data of one scan of a JPEG file, without stuffed bytes, and its restart
// intervals. ITU-T T.81, B.1.1.5 and F.1.2.3.
#pragma once

#include <memory>
#include <vector>

#include "dali_core/kernels/encoded_image/image_types.hpp"
#include "dali_core/kernels/jpeg/jpeg_huffman.hpp"
#include "dali_core/kernels/jpeg/scan_index.hpp"

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

  // As much of the data, which begin at `position`, as a decode from one point to another needs. To
  // be used for data that have been taken as a whole before, and without restart markers.
  bool take_part(const EncodedImage& encoded, size_t position, const ScanPoint& first,
                 const ScanPoint* last);

  // Whether the places of stuffed bytes are kept, for points.
  void keep_stuffed(bool keeps) { keeps_stuffed_ = keeps; }
  // The point where bits are, without predictions. False if a point cannot be so far from the
  // start. To be called in the order of the scan.
  bool find_point(const JpegBits& bits, ScanPoint& point);
  // False if the point is not in the part.
  bool go_to(const ScanPoint& point, JpegBits& bits) const;
  bool is_at(const JpegBits& bits, const ScanPoint& point) const {
    return bits.position(data_.get()) + static_cast<int64_t>(8 * first_byte_) == point.bit;
  }

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
  void start_part(const ScanPoint& first);

  GrowingMemory<uint8_t> data_;
  std::vector<size_t> ends_;  // of the restart intervals in it
  const uint8_t* limit_ = nullptr;
  size_t interval_ = 0;
  size_t first_byte_ = 0;  // of the data, that a part begins with
  bool keeps_stuffed_ = false;
  std::vector<size_t> stuffed_;      // places in the part of the bytes that one was stuffed behind
  size_t stuffed_before_point_ = 0;  // of `stuffed_`
  size_t stuffed_before_part_ = 0;
};

}  // namespace dali_core
