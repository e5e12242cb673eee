// Boxes and the anchors of a detector: which belong together, and what the detector should predict.
// Host loop and device kernels share this.
#pragma once

#include <cstdint>

#include "dali_core/kernels/boxes/points.hpp"
#include "dali_core/kernels/exponential/exponential.hpp"

namespace dali_core {

// 0 where boxes do not overlap, have no area, or have it by negative extents.
DC_HOST_DEV float intersection_over_union(const Box& a, const Box& b) {
  const float width = (b.right < a.right ? b.right : a.right) - (a.left < b.left ? b.left : a.left);
  const float height =
      (b.bottom < a.bottom ? b.bottom : a.bottom) - (a.top < b.top ? b.top : a.top);
  if (!(width > 0 && height > 0)) return 0;
  const float shared = width * height;
  return shared / (a.area() + b.area() - shared);
}

// Centre and extents.
struct CenteredBox {
  float numbers[4];

  DC_HOST_DEV explicit CenteredBox(const Box& box)
      : numbers{0.5f * (box.left + box.right), 0.5f * (box.top + box.bottom), box.width(),
                box.height()} {}
};

// How a box becomes deltas.
struct BoxDeltas {
  bool is_wanted;
  float scale;
  float means[4];
  float stds[4];
};

// Writes what the detector should predict for an anchor; without a box if that is null.
DC_HOST_DEV void encode_box(const float* matched, const Box& own, const BoxDeltas& deltas,
                            float* out) {
  const CenteredBox anchor(own);
  if (!deltas.is_wanted || matched == nullptr) {
    const CenteredBox box(matched == nullptr ? own : read_box(matched, true));
    for (int i = 0; i < 4; ++i) out[i] = deltas.is_wanted ? 0.0f : box.numbers[i];
    return;
  }
  const CenteredBox box(read_box(matched, true));
  for (int i = 0; i < 4; ++i) {
    const float scaled = box.numbers[i] * deltas.scale;
    const float extent = anchor.numbers[i < 2 ? i + 2 : i] * deltas.scale;
    const float delta = i < 2 ? (scaled - anchor.numbers[i] * deltas.scale) / extent
                              : static_cast<float>(natural_logarithm(scaled / extent));
    out[i] = (delta - deltas.means[i]) / deltas.stds[i];
  }
}

// What the kernel `find_best_anchors` does for one box: the anchor that overlaps it most, of
// several the last.
struct BestAnchorTask {
  const float* box;
  const Box* anchors;
  int64_t num_anchors;
  int64_t* best;
};

constexpr int kBestAnchorThreads = 128;

// What the kernel `encode_anchors` does for one sample.
struct AnchorTask {
  const float* boxes;
  const int32_t* labels;
  int64_t num_boxes;
  const Box* anchors;
  int64_t num_anchors;
  const int64_t* best;  // the best anchor of each box
  float criteria;
  BoxDeltas deltas;
  float* out;
  int32_t* out_labels;
};

// The box of an anchor, or -1: the last one whose best anchor it is, otherwise the one that
// overlaps it most, of several the last.
DC_HOST_DEV int64_t match_anchor(const AnchorTask& task, int64_t number) {
  const Box anchor = task.anchors[number];
  int64_t match = -1;
  float most = task.criteria;
  bool is_best = false;
  for (int64_t i = 0; i < task.num_boxes; ++i) {
    if (task.best[i] == number) {
      match = i;
      is_best = true;
    } else if (!is_best) {
      const float overlap = intersection_over_union(read_box(task.boxes + 4 * i, true), anchor);
      if (overlap > task.criteria && overlap >= most) {
        match = i;
        most = overlap;
      }
    }
  }
  return match;
}

}  // namespace dali_core
