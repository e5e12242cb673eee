// The interface of decoding frames of videos exactly, by their numbers in presentation order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "dali_core/kernels/video/frame_planes.hpp"

namespace dali_core {

// A file, or the bytes of one: in memory, or in a file without a name that `descriptor` refers to.
struct EncodedVideo {
  std::shared_ptr<const std::string> path;
  const uint8_t* bytes = nullptr;
  int descriptor = -1;  // the caller's, who keeps it open until `forget`
  int64_t size = 0;
};

struct VideoInfo {
  int width = 0;  // upright
  int height = 0;
  int64_t num_frames = 0;
  double frames_per_second = 0;  // on average
};

// Takes decoded frames. The planes are valid during the call.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  // `position` is the place in the list of frames that was asked for; every place is given once, in
  // ascending order of frame numbers.
  virtual void take(int64_t position, const FramePlanes& planes) = 0;
};

class VideoSession {
 public:
  virtual ~VideoSession() = default;
  virtual VideoInfo open(const EncodedVideo& video) = 0;
  // Errors are exceptions that say what is wrong with the file; the session remains usable.
  virtual void decode(const EncodedVideo& video, const int64_t* frames, int64_t count,
                      FrameSink& sink) = 0;
  // Says that a video will not be used again.
  virtual void forget(const EncodedVideo& video) = 0;
};

// The session that this process has, made at its first use; threads may call it at the same time.
VideoSession& video_session();

}  // namespace dali_core
