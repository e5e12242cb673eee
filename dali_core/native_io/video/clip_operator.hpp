// The base class of operators that decode clips: frames go into a chain or to output 0.
//
//   class VideoDecoder : public ClipOperator {
//    public:
//     void produce_clip(SampleContext& sample, ClipSink& sink) const override {
//       sink.begin(count, info.height, info.width, colours().channels());
//       ConvertedFrames frames(colours(), sink);
//       video_session().decode(video, numbers, count, frames);
//     }
//   };
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/kernels/image_chain/clip.hpp"
#include "dali_core/kernels/video/convert_planes.hpp"
#include "dali_core/native_io/video/video_session.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

// Which colours an operator gives: its arguments image_type and color_matrix, where it has them.
class VideoColours {
 public:
  VideoColours() = default;
  explicit VideoColours(const OperatorConfig& config)
      : type_(config.get<ImageType>("image_type")),
        matrix_(video_matrix(config.get<std::string>("color_matrix"))) {
    if (type_ == ImageType::kAnyData)
      throw std::invalid_argument(
          "image_type must be RGB, BGR, GRAY or YCbCr (got ANY_DATA). Use one of them.");
  }

  int channels() const { return type_ == ImageType::kGray ? 1 : 3; }
  FrameConverter converter(const FramePlanes& planes) const { return {planes, type_, matrix_}; }

 private:
  ImageType type_ = ImageType::kRGB;
  VideoMatrix matrix_ = VideoMatrix::kBT601;
};

// Passes decoded frames on as images, each to the places that ask for it. A frame of another size
// than the clip's is an error of the sink.
class ConvertedFrames : public FrameSink {
 public:
  // `first` is added to the positions.
  ConvertedFrames(const VideoColours& colours, ClipSink& sink, int64_t first = 0)
      : colours_(colours), sink_(sink), first_(first) {}

  void take(int64_t position, const FramePlanes& planes) override {
    sink_.take(first_ + position, colours_.converter(planes));
  }

 private:
  const VideoColours& colours_;
  ClipSink& sink_;
  int64_t first_;
};

// A frame of one colour, to pad clips with.
class FilledFrame : public ClipFrame {
 public:
  // One value a channel.
  FilledFrame(int64_t height, int64_t width, std::vector<uint8_t> values)
      : height_(height), width_(width), values_(std::move(values)) {}

  int64_t height() const override { return height_; }
  int64_t width() const override { return width_; }
  int channels() const override { return static_cast<int>(values_.size()); }

  void read(const CropWindow& part, uint8_t* out, int64_t stride) const override {
    for (int64_t y = 0; y < part.height; ++y)
      for (int64_t x = 0; x < part.width; ++x)
        for (size_t c = 0; c < values_.size(); ++c)
          out[y * stride + x * channels() + static_cast<int64_t>(c)] = values_[c];
  }

 private:
  int64_t height_, width_;
  std::vector<uint8_t> values_;
};

// Makes the clip output 0 of a sample, of layout FHWC and the type of its frames.
class OutputClip : public ClipSink {
 public:
  OutputClip(SampleContext& sample, DataType type) : sample_(sample), type_(type) {}

  void begin(int64_t num_frames, int64_t height, int64_t width, int channels) override {
    clip_.begin(num_frames, height, width, channels);
    data_ = static_cast<uint8_t*>(
        sample_.output(0, type_, Shape{num_frames, height, width, int64_t{channels}}, "FHWC").data);
  }

  void take(int64_t place, const ClipFrame& frame) override {
    clip_.check(place, frame);
    const int64_t stride = clip_.width() * clip_.channels() * size_of(type_);
    frame.read({0, 0, clip_.height(), clip_.width()}, data_ + place * clip_.height() * stride,
               stride);
  }

 private:
  SampleContext& sample_;
  DataType type_;
  CheckedClip clip_;
  uint8_t* data_ = nullptr;
};

// The base of operators whose output 0 is a clip.
class ClipOperator : public Operator, public ClipSource {
 public:
  explicit ClipOperator(const OperatorConfig& config) : colours_(config) {}

  void run(SampleContext& sample) const override {
    OutputClip sink(sample, image_type());
    produce_clip(sample, sink);
  }

 protected:
  const VideoColours& colours() const { return colours_; }

 private:
  VideoColours colours_;
};

}  // namespace dali_core
