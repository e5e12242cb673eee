#include "dali_core/kernels/jpeg/jpeg_scan_data.hpp"

#include <cstring>

namespace dali_core {
namespace {

constexpr uint8_t kFirstRestart = 0xD0, kLastRestart = 0xD7;
// A block has at most 64 symbols of at most 30 bits, or a correction for each coefficient, and 8
// bytes are read at once. So what starts before the end of the data stays inside of this.
constexpr size_t kPadding = 320;

}  // namespace

bool JpegScanData::take(const EncodedImage& encoded, size_t& position, int64_t num_groups,
                        int64_t restart_interval) {
  const uint8_t* in = encoded.data + position;
  const uint8_t* const end = encoded.data + encoded.size;
  uint8_t* const first = data_.at_least(static_cast<size_t>(end - in) + kPadding);
  uint8_t* out = first;
  start_part(ScanPoint{});
  for (;;) {
    const void* const found = std::memchr(in, 0xFF, static_cast<size_t>(end - in));
    if (found == nullptr) return false;
    const uint8_t* const mark = static_cast<const uint8_t*>(found);
    if (end - mark < 2) return false;
    const size_t plain = static_cast<size_t>(mark - in);
    std::memcpy(out, in, plain);
    out += plain;
    in = mark + 2;
    const uint8_t marker = mark[1];
    if (marker == 0) {
      if (keeps_stuffed_) stuffed_.push_back(static_cast<size_t>(out - first));
      *out++ = 0xFF;
      continue;
    }
    const size_t done = static_cast<size_t>(out - first);
    if (marker >= kFirstRestart && marker <= kLastRestart) {
      if (marker - kFirstRestart != static_cast<int>(ends_.size() % 8)) return false;
      ends_.push_back(done);
      continue;
    }
    ends_.push_back(done);
    limit_ = out;
    std::memset(out, 0, kPadding);
    position = static_cast<size_t>(mark - encoded.data);
    return num_intervals() ==
           (restart_interval > 0 ? (num_groups + restart_interval - 1) / restart_interval : 1);
  }
}

void JpegScanData::start_part(const ScanPoint& first) {
  ends_.clear();
  interval_ = 0;
  first_byte_ = first.byte();
  stuffed_.clear();
  stuffed_before_point_ = 0;
  stuffed_before_part_ = first.stuffed;
}

bool JpegScanData::take_part(const EncodedImage& encoded, size_t position, const ScanPoint& first,
                             const ScanPoint* last) {
  const size_t before = position + first.byte() + first.stuffed;
  if (before > encoded.size) return false;
  const uint8_t* in = encoded.data + before;
  const uint8_t* const end = encoded.data + encoded.size;
  // The last block ends in the byte that the point begins in, or before.
  const uint8_t* wanted_end = end;
  if (last != nullptr) {
    const size_t behind = position + last->byte() + last->stuffed + 1;
    if (behind < before || behind > encoded.size) return false;
    wanted_end = encoded.data + behind;
  }
  uint8_t* const start = data_.at_least(static_cast<size_t>(wanted_end - in) + kPadding);
  uint8_t* out = start;
  start_part(first);
  while (in < wanted_end) {
    const void* const found = std::memchr(in, 0xFF, static_cast<size_t>(wanted_end - in));
    const uint8_t* const mark = found != nullptr ? static_cast<const uint8_t*>(found) : wanted_end;
    const size_t plain = static_cast<size_t>(mark - in);
    std::memcpy(out, in, plain);
    out += plain;
    if (found == nullptr) break;
    if (end - mark < 2) return false;
    if (mark[1] != 0) break;
    if (keeps_stuffed_) stuffed_.push_back(static_cast<size_t>(out - start));
    *out++ = 0xFF;
    in = mark + 2;
  }
  ends_.push_back(static_cast<size_t>(out - start));
  limit_ = out;
  std::memset(out, 0, kPadding);
  return true;
}

bool JpegScanData::find_point(const JpegBits& bits, ScanPoint& point) {
  const int64_t in_part = bits.position(data_.get());
  const uint64_t bit = 8 * uint64_t{first_byte_} + static_cast<uint64_t>(in_part);
  const size_t byte = static_cast<size_t>(in_part / 8);
  while (stuffed_before_point_ < stuffed_.size() && stuffed_[stuffed_before_point_] < byte)
    ++stuffed_before_point_;
  const size_t stuffed = stuffed_before_part_ + stuffed_before_point_;
  point.bit = static_cast<uint32_t>(bit);
  point.stuffed = static_cast<uint16_t>(stuffed);
  return point.bit == bit && point.stuffed == stuffed;
}

bool JpegScanData::go_to(const ScanPoint& point, JpegBits& bits) const {
  if (point.byte() < first_byte_ || point.byte() - first_byte_ > ends_[0]) return false;
  bits = JpegBits(data_.get() + (point.byte() - first_byte_));
  bits.refill();
  bits.consume(point.bit % 8);
  return true;
}

JpegBits JpegScanData::start() {
  interval_ = 0;
  return JpegBits(data_.get());
}

bool JpegScanData::is_at_end_of_interval(const JpegBits& bits) const {
  const int64_t end = static_cast<int64_t>(ends_[interval_]) * 8;
  const int64_t at = bits.position(data_.get());
  return at <= end && at > end - 8;
}

bool JpegScanData::is_beyond_interval(const JpegBits& bits) const {
  return bits.position(data_.get()) > static_cast<int64_t>(ends_[interval_]) * 8;
}

bool JpegScanData::start_next_interval(JpegBits& bits) {
  if (!is_at_end_of_interval(bits) || interval_ + 1 >= ends_.size()) return false;
  go_to_end_of(interval(), bits);
  ++interval_;
  return true;
}

void JpegScanData::go_to_end_of(int64_t interval, JpegBits& bits) {
  interval_ = static_cast<size_t>(interval);
  bits = JpegBits(data_.get() + ends_[interval_]);
}

}  // namespace dali_core
