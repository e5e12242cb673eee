// State of a video in this process, as found by the processes that decode.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "dali_core/native_io/video/saved_indices.hpp"
#include "dali_core/native_io/video/video_session.hpp"

namespace dali_core {

struct VideoFile {
  VideoFile() = default;
  ~VideoFile() {
    if (bytes_descriptor < 0) return;
    // Processes that decode may hold on to it, but not to what it takes.
    if (owns_bytes) static_cast<void>(!::ftruncate(bytes_descriptor, 0));
    ::close(bytes_descriptor);
  }
  VideoFile(const VideoFile&) = delete;
  VideoFile& operator=(const VideoFile&) = delete;

  uint64_t id = 0;
  FileVersion version;        // without a path for bytes
  int bytes_descriptor = -1;  // memory with the bytes
  bool owns_bytes = false;    // the memory has no other owner
  int64_t size = 0;           // bytes
  VideoInfo info;
  std::vector<int32_t> keyframes;  // the first ones, where there are very many

  // The frame from which decoding of `frame` starts.
  int64_t keyframe_of(int64_t frame) const {
    const auto after = std::upper_bound(keyframes.begin(), keyframes.end(), frame);
    return after == keyframes.begin() ? 0 : after[-1];
  }
};

}  // namespace dali_core
