// Frames whose values are floats.
#pragma once

#include <vector>

#include "dali_core/kernels/image_chain/clip.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

// What values are multiplied with: the argument normalized.
inline float float_scale(const OperatorConfig& config) {
  return config.get_or<int64_t>("normalized", 0) != 0 ? 1.0f / 255.0f : 1.0f;
}

// The values of a frame of bytes, times a number.
class FloatFrame : public ClipFrame {
 public:
  FloatFrame(const ClipFrame& bytes, float scale, std::vector<uint8_t>& row)
      : bytes_(bytes), scale_(scale), row_(row) {}

  int64_t height() const override { return bytes_.height(); }
  int64_t width() const override { return bytes_.width(); }
  int channels() const override { return bytes_.channels(); }

  void read(const CropWindow& part, uint8_t* out, int64_t stride) const override {
    const int64_t count = part.width * channels();
    row_.resize(static_cast<size_t>(count));
    for (int64_t y = 0; y < part.height; ++y, out += stride) {
      bytes_.read({part.y + y, part.x, 1, part.width}, row_.data(), count);
      auto* const values = reinterpret_cast<float*>(out);
      for (int64_t i = 0; i < count; ++i)
        values[i] = static_cast<float>(row_[static_cast<size_t>(i)]) * scale_;
    }
  }

 private:
  const ClipFrame& bytes_;
  float scale_;
  std::vector<uint8_t>& row_;  // working memory
};

// Passes clips of bytes on as floats.
class FloatClip : public ClipSink {
 public:
  FloatClip(ClipSink& sink, float scale) : sink_(sink), scale_(scale) {}

  void begin(int64_t num_frames, int64_t height, int64_t width, int channels) override {
    sink_.begin(num_frames, height, width, channels);
  }

  void take(int64_t place, const ClipFrame& frame) override {
    sink_.take(place, FloatFrame(frame, scale_, row_));
  }

 private:
  ClipSink& sink_;
  float scale_;
  std::vector<uint8_t> row_;
};

}  // namespace dali_core
