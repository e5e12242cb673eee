#include "dali_core/kernels/jpeg/resampled_planes.hpp"

#include <algorithm>

#include "dali_core/kernels/jpeg/jpeg_rows.hpp"

namespace dali_core {
namespace {

struct PlaneAxis {
  ResampleAxis axis;
  int64_t first;  // sample from which the axis counts
};

// `start` is that of the part in the image, whose samples cover `pixels` pixels each.
PlaneAxis axis_of(const AxisGeometry& geometry, int64_t start, int64_t samples, int pixels) {
  PlaneAxis plane{geometry.resampling(), start + geometry.source_start()};
  if (pixels == 1) return plane;
  const auto first = static_cast<float>(plane.first);
  plane.axis.begin = (plane.axis.begin + first) / static_cast<float>(pixels);
  plane.axis.end = (plane.axis.end + first) / static_cast<float>(pixels);
  plane.axis.input_size = samples;
  plane.first = 0;
  return plane;
}

size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

// Pixels that samples cover, as far as they are in the image.
struct PixelSpan {
  int64_t begin, end;

  PixelSpan(int64_t first_sample, int64_t behind, int pixels, int64_t size)
      : begin(first_sample * pixels), end(std::min(behind * pixels, size)) {}
};

}  // namespace

ResampledPlanes::ResampledPlanes(const PlanarImage& image, const AxisGeometry& rows,
                                 const AxisGeometry& columns)
    : reverses_(image.reverses) {
  int64_t top = image.height, left = image.width, bottom = 0, right = 0;
  planes_.reserve(PlanarImage::kPlanes);
  for (const PlaneSize& size : image.planes) {
    const PlaneAxis vertical = axis_of(rows, image.part.y, size.height, size.taller);
    const PlaneAxis horizontal = axis_of(columns, image.part.x, size.width, size.wider);
    planes_.push_back(
        {ResamplePlan(vertical.axis, horizontal.axis, 1, DataType::kUInt8, DataType::kUInt8),
         vertical.first,
         horizontal.first,
         size,
         {}});
    const ResamplePlan& plan = planes_.back().plan;
    const PixelSpan high(vertical.first + plan.row_begin(), vertical.first + plan.row_end(),
                         size.taller, image.height);
    const PixelSpan wide(horizontal.first + plan.column_begin(),
                         horizontal.first + plan.column_end(), size.wider, image.width);
    top = std::min(top, high.begin);
    bottom = std::max(bottom, high.end);
    left = std::min(left, wide.begin);
    right = std::max(right, wide.end);
  }
  region_ = CropWindow{top, left, bottom - top, right - left};
}

size_t ResampledPlanes::plane_bytes() const {
  size_t bytes = 0;
  for (const Plane& plane : planes_)
    bytes += static_cast<size_t>(covering(region_.y, region_.height, plane.size.taller).count *
                                 covering(region_.x, region_.width, plane.size.wider).count);
  return bytes;
}

size_t ResampledPlanes::scratch_bytes() const {
  size_t bytes = 0;
  for (const Plane& plane : planes_)
    bytes += aligned(plane.plan.scratch_bytes()) +
             aligned(static_cast<size_t>(kRowsAtOnce * plane.plan.output_width()));
  return bytes;
}

void ResampledPlanes::bind(uint8_t* samples, char* scratch) {
  for (Plane& plane : planes_) {
    const PlaneSpan high = covering(region_.y, region_.height, plane.size.taller);
    const PlaneSpan wide = covering(region_.x, region_.width, plane.size.wider);
    plane.image.data = plane.samples = samples;
    plane.image.row_stride = wide.count;
    plane.image.first_row = high.first - plane.first_row;
    plane.image.first_column = wide.first - plane.first_column;
    samples += high.count * wide.count;
    plane.plan.bind(scratch);
    scratch += aligned(plane.plan.scratch_bytes());
    plane.made = reinterpret_cast<uint8_t*>(scratch);
    scratch += aligned(static_cast<size_t>(kRowsAtOnce * plane.plan.output_width()));
  }
}

void ResampledPlanes::make_rows(int64_t y, int64_t count, void* const* rows) const {
  const int64_t width = planes_.front().plan.output_width();
  for (int64_t done = 0; done < count; done += kRowsAtOnce) {
    const int64_t some = std::min<int64_t>(kRowsAtOnce, count - done);
    for (const Plane& plane : planes_) {
      void* made[kRowsAtOnce];
      for (int64_t i = 0; i < some; ++i) made[i] = plane.made + i * width;
      const int at_once = plane.plan.rows_at_once();
      for (int64_t i = 0; i < some; i += at_once)
        plane.plan.make_rows(plane.image, y + done + i,
                             static_cast<int>(std::min<int64_t>(at_once, some - i)), made + i);
    }
    for (int64_t i = 0; i < some; ++i) {
      const uint8_t* row[PlanarImage::kPlanes];
      for (size_t k = 0; k < planes_.size(); ++k) row[k] = planes_[k].made + i * width;
      auto* const pixels = static_cast<uint8_t*>(rows[done + i]);
      if (reverses_)
        ycc_to_bgr_row(row, width, pixels);
      else
        ycc_to_rgb_row(row, width, pixels);
    }
  }
}

}  // namespace dali_core
