// Random windows that leave enough of the boxes of an image, in two or three dimensions.
//
// Liu et al., "SSD: Single Shot MultiBox Detector", ECCV 2016, section 2.2, "Data augmentation".
#pragma once

#include <cstdint>
#include <vector>

#include "dali_core/philox.hpp"

namespace dali_core {

constexpr int kMaxBoxDims = 3;

// A box or a window, in units of the extents of the image.
struct Region {
  float start[kMaxBoxDims] = {};
  float end[kMaxBoxDims] = {};

  float extent(int dim) const { return end[dim] - start[dim]; }
};

struct FloatRange {
  float low = 1;
  float high = 1;

  bool is_number() const { return low == high; }
};

struct BoxCropRules {
  int ndim = 2;
  std::vector<float> thresholds = {0};
  bool is_overlap = false;     // a share of the box, rather than intersection over union
  bool needs_all = true;       // boxes above the threshold, rather than one
  bool allows_whole = true;    // image as a result
  float prune_threshold = -1;  // the share of a box that must be left; below 0, its centre must be
  FloatRange scaling;
  std::vector<FloatRange> aspect_ratios = {{}};  // of x to y, or of x to y, x to z and y to z
  int64_t num_attempts = 1;                      // before another threshold is drawn
  int64_t total_num_attempts = 0;  // before the best window is taken; 0: an error if there is none
};

struct BoxCrop {
  Region window;
  bool is_whole = false;
  std::vector<int64_t> kept;  // boxes
};

// Extents in pixels: those of the image, or 1, and those of the window, which may be drawn.
struct BoxCropExtents {
  int64_t image[kMaxBoxDims] = {1, 1, 1};
  int64_t window[kMaxBoxDims] = {};  // 0: drawn
};

// Draws windows until one satisfies the rules; throws if that takes too many attempts.
BoxCrop random_box_crop(const std::vector<Region>& boxes, const BoxCropRules& rules,
                        const BoxCropExtents& extents, RandomStream& random);

// A box in units of the window, cut off at its borders.
Region inside(const Region& window, const Region& box, int ndim);

}  // namespace dali_core
