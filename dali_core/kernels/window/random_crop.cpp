#include "dali_core/kernels/window/random_crop.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

namespace dali_core {

RandomCropParameters::RandomCropParameters(const OperatorConfig& config) {
  read_range(config, "random_area", min_area, max_area);
  read_range(config, "random_aspect_ratio", min_aspect_ratio, max_aspect_ratio);
  num_attempts = config.get<int>("num_attempts");
}

void RandomCropParameters::read_range(const OperatorConfig& config, const char* name, double& low,
                                      double& high) {
  const std::vector<double> range = config.get<std::vector<double>>(name);
  low = range.front();
  high = range.back();
  if (low > high)
    throw std::invalid_argument(std::string(name) + " must be a range that is not empty (got " +
                                std::to_string(low) + " to " + std::to_string(high) +
                                "). Put the smaller number first.");
}

// At least one pixel, and more than any image has for what is beyond.
static int64_t whole_extent(double extent) {
  return std::max<int64_t>(1, std::llround(std::min(extent, static_cast<double>(kMaxExtent))));
}

CropWindow random_crop_window(int64_t height, int64_t width, const RandomCropParameters& parameters,
                              RandomStream& random) {
  CropWindow window;
  if (height <= 0 || width <= 0) return window;
  checked_between(height, 0, kMaxPixels, "the image's height");
  checked_between(width, 0, kMaxPixels, "the image's width");
  const double image_height = static_cast<double>(height);
  const double image_width = static_cast<double>(width);
  const double log_low = std::log(parameters.min_aspect_ratio);
  const double log_high = std::log(parameters.max_aspect_ratio);
  bool found = false;
  for (int attempt = 0; attempt < parameters.num_attempts && !found; ++attempt) {
    const double share =
        parameters.min_area + random.next_double() * (parameters.max_area - parameters.min_area);
    // Through float: C libraries may differ in the last bit of a double's exponential.
    const double ratio =
        static_cast<float>(std::exp(log_low + random.next_double() * (log_high - log_low)));
    const double area = share * image_height * image_width;
    window.width = whole_extent(std::sqrt(area * ratio));
    window.height = whole_extent(std::sqrt(area / ratio));
    found = window.width <= width && window.height <= height;
  }
  if (!found) {
    window.height = height;
    window.width = width;
    const double ratio = image_width / image_height;
    if (ratio > parameters.max_aspect_ratio)
      window.width = static_cast<int64_t>(image_height * parameters.max_aspect_ratio);
    else if (ratio < parameters.min_aspect_ratio)
      window.height = static_cast<int64_t>(image_width / parameters.min_aspect_ratio);
    window.width = std::clamp<int64_t>(window.width, 1, width);
    window.height = std::clamp<int64_t>(window.height, 1, height);
  }
  window.y = random.next_below(static_cast<uint32_t>(height - window.height + 1));
  window.x = random.next_below(static_cast<uint32_t>(width - window.width + 1));
  return window;
}

}  // namespace dali_core
