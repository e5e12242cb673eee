// The destination of an image that may come as planes of luma and chroma, each of its own size.
#pragma once

#include <cstdint>
#include <optional>

#include "dali_core/kernels/image_chain/image_sink.hpp"

namespace dali_core {

// A plane whose samples cover `taller` x `wider` pixels each, from the corner of the image on.
struct PlaneSize {
  int64_t height = 0, width = 0;
  int taller = 1, wider = 1;
};

struct PlanarImage {
  static constexpr int kPlanes = 3;  // luma, and the differences of blue and red from it

  int64_t height = 0, width = 0;  // as it is decoded
  CropWindow part;                // of which the result is made
  PlaneSize planes[kPlanes];
  bool reverses = false;  // blue comes first in the pixels of the result
};

// What an ImageSink may be, too.
class PlaneSink {
 public:
  virtual ~PlaneSink() = default;

  // The pixels whose samples are wanted, which lie inside; none if the sink has to have pixels.
  virtual std::optional<CropWindow> choose_planes(const PlanarImage& image) = 0;

  // Dense memory for the samples of each plane that cover any of these pixels.
  virtual void allocate_planes(uint8_t* planes[PlanarImage::kPlanes]) = 0;
};

// The samples along an axis that cover pixels [start, start + extent).
struct PlaneSpan {
  int64_t first, count;
};

inline PlaneSpan covering(int64_t start, int64_t extent, int pixels) {
  const int64_t first = start / pixels;
  return {first, (start + extent - 1) / pixels - first + 1};
}

}  // namespace dali_core
