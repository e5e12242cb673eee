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
  ends_.clear();
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
