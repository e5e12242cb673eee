#include "dali_core/kernels/window/crop_window.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

namespace dali_core {

// First pixel of a window at a relative position: 0 is flush left, 1 flush right.
static int64_t crop_anchor(float position, int64_t image_extent, int64_t crop_extent,
                           AnchorRounding rounding) {
  const double anchor =
      static_cast<double>(position) * static_cast<double>(image_extent - crop_extent);
  return static_cast<int64_t>(rounding == AnchorRounding::kRound ? std::round(anchor)
                                                                 : std::trunc(anchor));
}

CropArguments::CropArguments(const OperatorConfig& config)
    : crop_(config, "crop"),
      crop_w_(config, "crop_w"),
      crop_h_(config, "crop_h"),
      crop_d_(config, "crop_d"),
      position_x_(config, "crop_pos_x"),
      position_y_(config, "crop_pos_y"),
      position_z_(config, "crop_pos_z") {
  if (config.get<std::string>("rounding") == "truncate") rounding_ = AnchorRounding::kTruncate;
  if (crop_w_.given() != crop_h_.given())
    throw std::invalid_argument("crop_w and crop_h must be given together (got only " +
                                std::string(crop_w_.given() ? "crop_w" : "crop_h") +
                                "). Pass both, or crop=(height, width).");
  if (crop_d_.given() && !crop_w_.given())
    throw std::invalid_argument(
        "crop_d must be given together with crop_w and crop_h (got crop_d alone). Pass all "
        "three, or crop=(depth, height, width).");
  if (crop_.given() && crop_.is_constant()) check_length(config.get<std::vector<float>>("crop"));
}

Window CropArguments::window(const SampleContext& sample, const Shape& shape,
                             const ImageAxes& axes) const {
  float depth = 0, height = 0, width = 0;
  if (crop_.given()) {
    std::vector<float> storage;
    const std::vector<float>& crop = crop_.at(sample, storage);
    check_length(crop);
    width = crop[crop.size() - 1];
    height = crop[crop.size() - 2];
    if (crop.size() == 3) depth = crop[0];
  } else {
    width = crop_w_.at_or(sample, 0);
    height = crop_h_.at_or(sample, 0);
    depth = crop_d_.at_or(sample, 0);
  }
  Window window(shape);
  place(window, axes.width, width, position_x_, sample);
  place(window, axes.height, height, position_y_, sample);
  place(window, axes.depth >= 0 ? axes.depth : axes.frame, depth, position_z_, sample);
  return window;
}

void CropArguments::check_length(const std::vector<float>& crop) {
  if (crop.size() != 2 && crop.size() != 3)
    throw std::invalid_argument("crop must be (height, width) or (depth, height, width) (got " +
                                std::to_string(crop.size()) +
                                " values). Pass two or three numbers.");
}

void CropArguments::place(Window& window, int axis, float extent, const Argument<float>& position,
                          const SampleContext& sample) const {
  if (axis < 0 || !(extent >= 1)) return;
  const float relative = position.at(sample);
  // What the description allows is not relied on where memory depends on it.
  if (!(relative >= 0 && relative <= 1))
    throw std::invalid_argument("the position of a window must be from 0 to 1 (got " +
                                std::to_string(relative) +
                                "). It is a share of the room beside the window.");
  const int64_t image_extent = window.extent[axis];
  window.extent[axis] = checked_extent(extent, "the extent of the window");
  window.start[axis] = crop_anchor(relative, image_extent, window.extent[axis], rounding_);
}

}  // namespace dali_core
