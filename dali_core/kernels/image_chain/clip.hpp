// Clips: sequences of frames of one size, which a source makes one frame after the other, and of
// which the consumer reads the part it needs, a few rows at a time.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "dali_core/kernels/image_chain/image_chain.hpp"
#include "dali_core/kernels/window/random_crop.hpp"

namespace dali_core {

// One frame, before it is an image.
class ClipFrame {
 public:
  virtual ~ClipFrame() = default;
  virtual int64_t height() const = 0;
  virtual int64_t width() const = 0;
  virtual int channels() const = 0;

  // Writes the pixels of a part, which must lie inside, as rows `stride` bytes apart, of elements
  // of the source's type. The result does not depend on how a frame is cut into parts.
  virtual void read(const CropWindow& part, uint8_t* out, int64_t stride) const = 0;
};

// Takes the frames of one clip.
class ClipSink {
 public:
  virtual ~ClipSink() = default;

  // Says what the clip is, once and before any frame.
  virtual void begin(int64_t num_frames, int64_t height, int64_t width, int channels) = 0;

  // Takes the frame at a place of the clip. Every place is given once, in any order; the frame is
  // valid during the call.
  virtual void take(int64_t place, const ClipFrame& frame) = 0;
};

// Checks what every sink must: places and sizes.
class CheckedClip {
 public:
  void begin(int64_t num_frames, int64_t height, int64_t width, int channels) {
    if (num_frames < 0 || height < 0 || width < 0 || channels < 1)
      throw std::logic_error("clips must have sizes that are not negative.");
    num_frames_ = num_frames;
    height_ = height;
    width_ = width;
    channels_ = channels;
  }

  void check(int64_t place, const ClipFrame& frame) const {
    if (place < 0 || place >= num_frames_)
      throw std::logic_error("frames must have a place in the clip.");
    if (frame.height() != height_ || frame.width() != width_ || frame.channels() != channels_)
      throw std::runtime_error(
          "the frames of a clip must have one size (got " + std::to_string(frame.height()) + " x " +
          std::to_string(frame.width()) + " after " + std::to_string(height_) + " x " +
          std::to_string(width_) + "). Split the video where its size changes.");
  }

  int64_t num_frames() const { return num_frames_; }
  int64_t height() const { return height_; }
  int64_t width() const { return width_; }
  int channels() const { return channels_; }

 private:
  int64_t num_frames_ = 0;
  int64_t height_ = 0;
  int64_t width_ = 0;
  int channels_ = 1;
};

// The source of a chain that does the same to every frame of a clip. Output 0 of the operator has
// layout FHWC; it makes its other outputs in `produce_clip`, in a chain or not. One that resizes
// its frames is a ResampleStep, too, and gives them as they were before.
class ClipSource : public ImageSource {
 public:
  // Of the elements of frames.
  DataType image_type() const override { return DataType::kUInt8; }
  void produce(SampleContext&, ImageSink&) const final {
    throw std::logic_error("a clip is no single image");
  }

  virtual void produce_clip(SampleContext& sample, ClipSink& sink) const = 0;
};

}  // namespace dali_core
