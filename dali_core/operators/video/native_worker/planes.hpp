// Planes of decoded frames, as they go to the other process.
#pragma once

extern "C" {
#include <libavutil/frame.h>
}

#include <cstddef>
#include <cstdint>

#include "dali_core/native_io/video/video_messages.hpp"

namespace dali_core {

// How the samples of a frame are stored in the memory that both processes see.
class PlaneLayout {
 public:
  // Throws VideoFileError if there is no way to give its planes.
  explicit PlaneLayout(const AVFrame& frame);

  size_t size() const { return size_; }  // bytes, with what is needed for alignment

  // Copies a frame to `memory` from `at` on, sets `at` behind it, and fills in all of the
  // description that does not depend on the file.
  void copy(const AVFrame& frame, uint8_t* memory, size_t& at, SentFrame& sent) const;

 private:
  int num_planes_;
  int shift_x_;
  int shift_y_;
  int bits_;
  bool is_rgb_;
  bool is_full_;    // whatever the frame says
  bool is_planar_;  // already, in the order of ours
  size_t size_ = 0;
  size_t width_[3] = {};  // of a row, in samples
  size_t height_[3] = {};
  size_t stride_[3] = {};
};

}  // namespace dali_core
