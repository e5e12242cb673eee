#include "dali_core/operators/video/native_worker/indexing.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include "dali_core/operators/video/native_worker/container.hpp"
#include "dali_core/operators/video/native_worker/stream_facts.hpp"

namespace dali_core {
namespace {

constexpr double kSecondsOff = 0.05;  // that tables may be from what they describe
constexpr double kSpread = 0.02;      // of the average duration; more makes a frame rate variable

// Differences of times from a file need not fit into 64 bits.
using Wide = __int128;

struct Shown {
  int64_t pts;
  int32_t position;
  bool operator<(const Shown& other) const {
    return std::pair(pts, position) < std::pair(other.pts, other.position);
  }
};

struct Key {
  int32_t position;
  int64_t pts;
  int64_t dts;
};

std::string seconds_text(double seconds) {
  char text[400];
  std::snprintf(text, sizeof text, "%.3f s", seconds);
  return text;
}

void check_duration(std::vector<int64_t> known, const PackedIndex& index, double expected) {
  if (expected == 0 || known.empty()) return;
  std::sort(known.begin(), known.end());
  const double unit =
      static_cast<double>(index.time_base_num) / static_cast<double>(index.time_base_den);
  // The last frame may be shown for long, as each may where the rate varies.
  Wide longest = 0;
  for (size_t i = 1; i < known.size(); ++i)
    longest = std::max(longest, Wide{known[i]} - known[i - 1]);
  const double end = static_cast<double>(known.back() + 2 * longest) * unit + kSecondsOff;
  if (known.size() > 1 && end < expected)
    throw VideoFileError("it ends at " + seconds_text(static_cast<double>(known.back()) * unit) +
                         " of " + seconds_text(expected));
}

// Decoding can always start where the file starts, and without timestamps only there.
void add_keyframes(const std::vector<Shown>& shown, const std::map<int32_t, Key>& keys,
                   PackedIndex& index) {
  const auto add = [&index](size_t number, const Key& key) {
    index.keyframes.push_back(static_cast<int32_t>(number));
    index.key_positions.push_back(key.position);
    index.key_pts.push_back(key.pts);
    index.key_dts.push_back(key.dts);
  };
  const bool is_timed = (index.flags & PackedIndex::kHasTimestamps) != 0;
  Key start{0, shown[0].pts, shown[0].pts};
  if (keys.empty() || !is_timed) {
    add(0, start);
    return;
  }
  const auto opens = keys.find(shown[0].position);
  if (opens != keys.end() && shown[0].position == 0) {
    start = opens->second;
  } else if (shown[0].position > keys.begin()->first) {
    start = keys.begin()->second;
  }
  add(0, start);
  for (size_t number = 0; number < shown.size(); ++number) {
    const auto key = keys.find(shown[number].position);
    if (key != keys.end() && (number > 0 || shown[number].position > 0)) add(number, key->second);
  }
}

bool is_variable(const std::vector<Shown>& shown) {
  if (shown.size() < 3) return false;
  Wide shortest = Wide{shown[1].pts} - shown[0].pts, longest = shortest;
  for (size_t i = 2; i < shown.size(); ++i) {
    const Wide step = Wide{shown[i].pts} - shown[i - 1].pts;
    shortest = std::min(shortest, step);
    longest = std::max(longest, step);
  }
  const double average = static_cast<double>(Wide{shown.back().pts} - shown.front().pts) /
                         static_cast<double>(shown.size() - 1);
  // Containers that count milliseconds round each time by one of them.
  const double allowed = std::max(1.0, kSpread * average);
  return static_cast<double>(longest) - average > allowed ||
         average - static_cast<double>(shortest) > allowed;
}

class IndexBuilder {
 public:
  explicit IndexBuilder(const std::string& path) : container_(path) {}

  PackedIndex build() {
    describe_stream(container_, index_);
    const bool has_numbers_only = numbers_packets(container_);
    const AVRational rate = frame_rate(container_);
    const double expected = expected_seconds(container_);
    check_size(container_);
    read_packets();
    if (shown_.empty()) throw VideoFileError("it has no frame");
    check_duration(times_, index_, expected);
    if (times_.size() == shown_.size() && !has_numbers_only) {
      index_.flags |= PackedIndex::kHasTimestamps;
      std::sort(shown_.begin(), shown_.end());
      if (is_variable(shown_)) index_.flags |= PackedIndex::kIsVariable;
    } else {
      // A raw stream: frames follow each other at the rate that its header, or FFmpeg, assumes.
      for (size_t number = 0; number < shown_.size(); ++number)
        shown_[number].pts = static_cast<int64_t>(number);
      index_.time_base_num = rate.den;
      index_.time_base_den = rate.num;
    }
    for (const Shown& frame : shown_) {
      index_.pts.push_back(frame.pts);
      index_.positions.push_back(frame.position);
    }
    add_keyframes(shown_, keys_, index_);
    return std::move(index_);
  }

 private:
  void read_packets() {
    const bool is_vp8 = container_.stream()->codecpar->codec_id == AV_CODEC_ID_VP8;
    // A broadcast that was recorded may begin in the middle, and lack a part: only clips that need
    // the part are refused.
    const bool is_transport = container_.format() == "mpegts";
    const Packet packet = make_packet();
    int32_t position = 0;
    int result;
    while ((result = container_.read(packet.get())) == 0) {
      const int flags = packet->flags;
      if ((flags & AV_PKT_FLAG_CORRUPT) && !is_transport)
        throw VideoFileError("its packet " + std::to_string(position) + " is damaged, or cut off");
      const bool has_pts = packet->pts != AV_NOPTS_VALUE;
      const int64_t pts = has_pts ? packet->pts : position;
      // Bit 4 of the first byte says that a frame of VP8 is shown (RFC 6386, 9.1).
      const bool is_hidden = is_vp8 && !(packet->data[0] >> 4 & 1);
      if (!(flags & AV_PKT_FLAG_DISCARD) && !is_hidden) {
        if (has_pts) times_.push_back(pts);
        shown_.push_back({pts, position});
      }
      if (flags & AV_PKT_FLAG_KEY)
        keys_[position] = {position, pts, packet->dts != AV_NOPTS_VALUE ? packet->dts : pts};
      if (position == INT32_MAX) throw VideoFileError("it has too many packets");
      ++position;
    }
    if (result != AVERROR_EOF)
      throw VideoFileError("reading stops at packet " + std::to_string(position) + ": " +
                           reason_of(result));
    index_.num_packets = position;
  }

  Container container_;
  PackedIndex index_;
  std::vector<int64_t> times_;  // of shown frames that have one
  std::vector<Shown> shown_;
  std::map<int32_t, Key> keys_;
};

}  // namespace

PackedIndex build_index(const std::string& path) { return IndexBuilder(path).build(); }

}  // namespace dali_core
