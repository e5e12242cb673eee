// Resamples planes of luma and chroma, each with its own scale and place, and converts the rows
// that come out to pixels. Samples of chroma lie in the middle of the pixels that they cover.
#pragma once

#include <vector>

#include "dali_core/kernels/image_chain/image_chain.hpp"
#include "dali_core/kernels/image_chain/plane_sink.hpp"
#include "dali_core/kernels/resample/resample.hpp"

namespace dali_core {

class ResampledPlanes {
 public:
  // Rows that are made at once, at most.
  static constexpr int kRowsAtOnce = 4;

  // `rows` and `columns` are the geometry of the part of the image; both are resampled. Luma, and
  // chroma that is not subsampled, have no samples outside of what is left of the part before it is
  // resampled; other chroma has those of the whole image.
  ResampledPlanes(const PlanarImage& image, const AxisGeometry& rows, const AxisGeometry& columns);

  // The pixels whose samples are read.
  const CropWindow& region() const { return region_; }

  size_t plane_bytes() const;
  size_t scratch_bytes() const;
  // Memory for the samples, and other memory that is aligned to 64 bytes.
  void bind(uint8_t* samples, char* scratch);
  uint8_t* samples(int plane) const { return planes_[static_cast<size_t>(plane)].samples; }

  // Makes rows [y, y + count) of pixels.
  void make_rows(int64_t y, int64_t count, void* const* rows) const;

 private:
  struct Plane {
    ResamplePlan plan;
    int64_t first_row, first_column;  // from which the plan counts
    PlaneSize size;
    ResampleImage image;
    uint8_t* samples = nullptr;
    uint8_t* made = nullptr;  // rows of the result
  };

  std::vector<Plane> planes_;
  CropWindow region_;
  bool reverses_;
};

}  // namespace dali_core
