// The random window behind random_resized_crop, random_crop_generator and the decoders that crop.
//
// Area is uniform and aspect ratio log-uniform in the given ranges; a window that does not fit into
// the image is drawn again. Szegedy et al., "Going deeper with convolutions", CVPR 2015, section 6.
#pragma once

#include <cstdint>

#include "dali_core/operator.hpp"
#include "dali_core/philox.hpp"

namespace dali_core {

struct CropWindow {
  int64_t y = 0;
  int64_t x = 0;
  int64_t height = 0;
  int64_t width = 0;
};

struct RandomCropParameters {
  double min_area = 0.08;  // as a share of the image's area
  double max_area = 1.0;
  double min_aspect_ratio = 3.0 / 4.0;  // width / height
  double max_aspect_ratio = 4.0 / 3.0;
  int num_attempts = 10;

  RandomCropParameters() = default;

  // Reads and checks random_area, random_aspect_ratio and num_attempts.
  explicit RandomCropParameters(const OperatorConfig& config);

 private:
  static void read_range(const OperatorConfig& config, const char* name, double& low, double& high);
};

// Draws a window inside an image of `height` x `width` pixels, at least 1 x 1 unless the image is
// empty. When no attempt fits, the size is that of the largest window whose aspect ratio is in
// range; the position is random in every case.
CropWindow random_crop_window(int64_t height, int64_t width, const RandomCropParameters& parameters,
                              RandomStream& random);

}  // namespace dali_core
