// The planes of a decoded frame as an image: interleaved, in the colours asked for, upright.
//
//   const FrameConverter converter(planes, ImageType::kRGB, VideoMatrix::kBT601);
//   converter.read({y, x, height, width}, out, stride);
//
// Chroma is interpolated linearly, as if its samples lay in the centre of the pixels that share
// them; where the last sample belongs to fewer pixels than others, as in frames of odd sizes, all
// of them are spread evenly over the frame, as FFmpeg and NVIDIA DALI do. A frame may be read in
// parts, and the pixels are those of reading it whole.
#pragma once

#include <cstdint>
#include <string>

#include "dali_core/kernels/encoded_image/image_types.hpp"
#include "dali_core/kernels/image_chain/clip.hpp"
#include "dali_core/kernels/video/frame_planes.hpp"

namespace dali_core {

// Which matrix made luma and chroma of red, green and blue. kAuto is what the stream says; if it
// says nothing, BT.709 for frames that are 1280 pixels wide, or more than 576 high, or larger, and
// BT.601 for smaller ones.
enum class VideoMatrix : int8_t { kBT601, kBT709, kBT2020, kAuto };

// From "bt601", "bt709", "bt2020" or "auto".
VideoMatrix video_matrix(const std::string& name);

// What is done to the values of a pixel:
//   output[k] = truncate(sum over i of factors[k][i] * value[i] + offsets[k]), saturated.
// Values are luma and two of chroma, the latter times `chroma_scale`; or green, blue and red.
struct PlaneMix {
  float factors[3][3] = {};
  float offsets[3] = {};
};

class FrameConverter : public ClipFrame {
 public:
  // Throws std::runtime_error if the planes cannot be an image, or are of a kind that is not
  // known. `type` is kRGB, kBGR, kGray or kYCbCr (BT.601, luma from 16 to 235). `planes` is
  // copied; what it refers to must stay.
  FrameConverter(const FramePlanes& planes, ImageType type, VideoMatrix matrix);

  // Of the upright image.
  int64_t height() const override { return turn_.transpose ? planes_.width : planes_.height; }
  int64_t width() const override { return turn_.transpose ? planes_.height : planes_.width; }
  int channels() const override { return channels_; }

  void read(const CropWindow& part, uint8_t* out, int64_t stride) const override;

  const PlaneMix& mix() const { return mix_; }
  const Orientation& orientation() const { return turn_; }

 private:
  // Pixels of one row of the frame as it is stored.
  void convert_row(int64_t y, int64_t x, int64_t count, uint8_t* out) const;
  void read_transposed(const CropWindow& part, uint8_t* out, int64_t stride) const;

  FramePlanes planes_;
  PlaneMix mix_;
  Orientation turn_;
  ImageType type_;
  int channels_;
};

}  // namespace dali_core
