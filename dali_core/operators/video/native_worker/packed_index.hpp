// The index of a video as bytes that go to other processes and to the cache. The same as
// worker/packed_index.py, byte for byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dali_core {

// Frames of the first video stream of a file in presentation order, found by demuxing only.
// Decoding that starts at the packet of a keyframe gives all frames from that keyframe on.
struct PackedIndex {
  enum Flags : uint32_t { kHasTimestamps = 1, kIsVariable = 2, kNeedsPts = 4, kMaySkip = 8 };

  std::string codec;
  int64_t coded_width = 0;
  int64_t coded_height = 0;
  int64_t orientation = 1;  // by the numbers of Exif: what makes the picture upright
  int64_t time_base_num = 1;
  int64_t time_base_den = 1;
  int64_t num_packets = 0;
  uint32_t flags = 0;
  std::vector<int64_t> pts;
  std::vector<int32_t> positions;  // of each frame in the order of packets
  std::vector<int32_t> keyframes;  // numbers of frames, ascending
  std::vector<int32_t> key_positions;
  std::vector<int64_t> key_pts;
  std::vector<int64_t> key_dts;

  std::string to_bytes() const;
  // Nothing if the bytes are not an index that this version has written.
  static std::optional<PackedIndex> from_bytes(const void* data, size_t size);
};

}  // namespace dali_core
