// The window that `crop`, `crop_w`, `crop_pos_x` and the like cut out of an image, for every
// operator that takes them.
#pragma once

#include <cctype>
#include <cmath>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "dali_core/geometry.hpp"
#include "dali_core/host_device.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

// Part of a tensor. It may reach outside.
struct Window {
  int64_t start[kMaxDims] = {};
  Shape extent;

  explicit Window(const Shape& whole) : extent(whole) {}

  bool is_whole(const Shape& shape) const {
    for (int i = 0; i < shape.ndim; ++i)
      if (start[i] != 0 || extent[i] != shape[i]) return false;
    return true;
  }

  bool is_inside(int dim, const Shape& shape) const {
    return start[dim] >= 0 && start[dim] + extent[dim] <= shape[dim];
  }
};

enum class AnchorRounding { kRound, kTruncate };

// First pixel of a window at a relative position: 0 is flush left, 1 flush right.
inline int64_t crop_anchor(float position, int64_t image_extent, int64_t crop_extent,
                           AnchorRounding rounding) {
  const double anchor =
      static_cast<double>(position) * static_cast<double>(image_extent - crop_extent);
  return static_cast<int64_t>(rounding == AnchorRounding::kRound ? std::round(anchor)
                                                                 : std::trunc(anchor));
}

// crop, crop_w/h/d, crop_pos_x/y/z and rounding.
class CropArguments {
 public:
  explicit CropArguments(const OperatorConfig& config)
      : crop_(config, "crop"),
        crop_w_(config, "crop_w"),
        crop_h_(config, "crop_h"),
        crop_d_(config, "crop_d"),
        position_x_(config, "crop_pos_x"),
        position_y_(config, "crop_pos_y"),
        position_z_(config, "crop_pos_z") {
    const std::string rounding = config.get_or<std::string>("rounding", "round");
    if (rounding == "round")
      rounding_ = AnchorRounding::kRound;
    else if (rounding == "truncate")
      rounding_ = AnchorRounding::kTruncate;
    else
      throw std::invalid_argument("rounding must be \"round\" or \"truncate\" (got \"" + rounding +
                                  "\"). Use one of them.");
    if (crop_w_.given() != crop_h_.given())
      throw std::invalid_argument("crop_w and crop_h must be given together (got only " +
                                  std::string(crop_w_.given() ? "crop_w" : "crop_h") +
                                  "). Pass both, or crop=(height, width).");
    if (crop_d_.given() && !crop_w_.given())
      throw std::invalid_argument(
          "crop_d must be given together with crop_w and crop_h (got crop_d alone). Pass all "
          "three, or crop=(depth, height, width).");
    if (crop_.given() && crop_w_.given())
      throw std::invalid_argument(
          "crop must not be combined with crop_w, crop_h and crop_d (got both). Pass one of them.");
    if (crop_.given() && crop_.is_constant()) check_length(config.get<std::vector<float>>("crop"));
  }

  // Depth is the depth of a volume, or the frames of a sequence. An extent that is not positive
  // keeps the dimension whole.
  Window window(const SampleContext& sample, const Shape& shape, const ImageAxes& axes) const {
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
    place(window, axes.width, width, position_x_, "crop_pos_x", sample);
    place(window, axes.height, height, position_y_, "crop_pos_y", sample);
    place(window, axes.depth >= 0 ? axes.depth : axes.frame, depth, position_z_, "crop_pos_z",
          sample);
    return window;
  }

 private:
  static void check_length(const std::vector<float>& crop) {
    if (crop.size() != 2 && crop.size() != 3)
      throw std::invalid_argument("crop must be (height, width) or (depth, height, width) (got " +
                                  std::to_string(crop.size()) +
                                  " values). Pass two or three numbers.");
  }

  void place(Window& window, int axis, float extent, const Argument<float>& position,
             const char* position_name, const SampleContext& sample) const {
    if (axis < 0 || !(extent >= 1)) return;
    const float relative = position.at_or(sample, 0.5f);
    if (!(relative >= 0 && relative <= 1))
      throw std::invalid_argument(std::string(position_name) + " must be from 0 to 1 (got " +
                                  std::to_string(relative) +
                                  "). It is a share of the room beside the window.");
    const int64_t image_extent = window.extent[axis];
    window.extent[axis] = static_cast<int64_t>(extent);
    window.start[axis] = crop_anchor(relative, image_extent, window.extent[axis], rounding_);
  }

  ListArgument<float> crop_;
  Argument<float> crop_w_, crop_h_, crop_d_;
  Argument<float> position_x_, position_y_, position_z_;
  AnchorRounding rounding_ = AnchorRounding::kRound;
};

// What lies beside the image: nothing (an error, or trimmed away), a value, or the image again.
enum class OutOfBounds { kError, kTrim, kPad, kEdge, kReflect, kReflect101, kWrap };

inline bool repeats_image(OutOfBounds policy) { return policy >= OutOfBounds::kEdge; }

inline OutOfBounds out_of_bounds_policy(const OperatorConfig& config, bool may_repeat_image) {
  static const std::map<std::string, OutOfBounds> policies = {
      {"error", OutOfBounds::kError},
      {"trim_to_shape", OutOfBounds::kTrim},
      {"pad", OutOfBounds::kPad},
      {"constant", OutOfBounds::kPad},
      {"edge", OutOfBounds::kEdge},
      {"clamp", OutOfBounds::kEdge},
      {"reflect", OutOfBounds::kReflect},
      {"reflect_1001", OutOfBounds::kReflect},
      {"reflect_101", OutOfBounds::kReflect101},
      {"reflect101", OutOfBounds::kReflect101},
      {"wrap", OutOfBounds::kWrap},
  };
  const std::string given = config.get_or<std::string>("out_of_bounds_policy", "error");
  std::string name = given;
  for (char& letter : name) letter = static_cast<char>(std::tolower(letter));
  const auto found = policies.find(name);
  if (found == policies.end() || (repeats_image(found->second) && !may_repeat_image))
    throw std::invalid_argument(
        std::string("out_of_bounds_policy must be \"error\", \"pad\"") +
        (may_repeat_image ? ", \"edge\", \"reflect\", \"reflect_101\", \"wrap\"" : "") +
        " or \"trim_to_shape\" (got \"" + given + "\"). Use one of them.");
  return found->second;
}

// Position inside the image that a position beside it repeats. `extent` is above 0.
DC_HOST_DEV int64_t repeated_source(int64_t position, int64_t extent, OutOfBounds policy) {
  if (policy == OutOfBounds::kEdge || extent == 1)
    return position < 0 ? 0 : position >= extent ? extent - 1 : position;
  const int64_t period = policy == OutOfBounds::kWrap      ? extent
                         : policy == OutOfBounds::kReflect ? 2 * extent
                                                           : 2 * extent - 2;
  position %= period;
  if (position < 0) position += period;
  if (position < extent) return position;
  return policy == OutOfBounds::kReflect ? period - 1 - position : period - position;
}

// Refuses or trims a window that reaches outside the image, unless it is to be padded.
inline void apply_policy(Window& window, const Shape& shape, OutOfBounds policy) {
  for (int i = 0; i < shape.ndim; ++i) {
    if (window.is_inside(i, shape) || policy == OutOfBounds::kPad) continue;
    if (repeats_image(policy)) {
      if (shape[i] > 0) continue;
      throw std::invalid_argument("the image must not be empty (got shape " + to_string(shape) +
                                  "). There is nothing to repeat; pad instead.");
    }
    if (policy == OutOfBounds::kError)
      throw std::invalid_argument(
          "the window must lie inside the image (got a window of shape " +
          to_string(window.extent) + " in an input of shape " + to_string(shape) +
          "). Crop less, resize before, or set out_of_bounds_policy to \"pad\" or "
          "\"trim_to_shape\".");
    const int64_t end = window.start[i] + window.extent[i];
    window.start[i] = window.start[i] < 0 ? 0 : window.start[i];
    window.extent[i] = (end < shape[i] ? end : shape[i]) - window.start[i];
  }
}

// A fill value in the output's type. Integers drop the fraction and keep the low bits, so -1 is
// the largest number of an unsigned type.
template <typename T>
T fill_value(float value) {
  if constexpr (is_floating<T>)
    return convert<T>(value);
  else if constexpr (std::is_same_v<T, bool>)
    return value != 0;
  else
    return static_cast<T>(convert<int64_t>(std::trunc(value)));
}

}  // namespace dali_core
