// The window that `crop`, `crop_w`, `crop_pos_x` and the like cut out of an image, for every
// operator that takes them.
#pragma once

#include <cstdint>
#include <vector>

#include "dali_core/geometry.hpp"
#include "dali_core/kernels/window/window.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

enum class AnchorRounding { kRound, kTruncate };

// crop, crop_w/h/d, crop_pos_x/y/z and rounding.
class CropArguments {
 public:
  explicit CropArguments(const OperatorConfig& config);

  // Depth is the depth of a volume, or the frames of a sequence. An extent that is not positive
  // keeps the dimension whole.
  Window window(const SampleContext& sample, const Shape& shape, const ImageAxes& axes) const;

  // Whether all of a clip's frames are in the window.
  bool keeps_frames(const SampleContext& sample, int64_t frames) const {
    const Window clip = window(sample, {frames, 1, 1, 1}, image_axes("FHWC"));
    return clip.start[0] == 0 && clip.extent[0] == frames;
  }

 private:
  static void check_length(const std::vector<float>& crop);

  void place(Window& window, int axis, float extent, const Argument<float>& position,
             const SampleContext& sample) const;

  ListArgument<float> crop_;
  Argument<float> crop_w_, crop_h_, crop_d_;
  Argument<float> position_x_, position_y_, position_z_;
  AnchorRounding rounding_ = AnchorRounding::kRound;
};

}  // namespace dali_core
