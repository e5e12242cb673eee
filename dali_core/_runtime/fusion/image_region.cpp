#include "image_region.hpp"

#include <algorithm>

namespace dali_core {
namespace {

// Which part of the image an axis of the result is made from.
void find_source(const AxisGeometry& axis, bool is_running, int64_t& start, int64_t& extent) {
  start = axis.start();
  extent = axis.size();
  if (!axis.is_resampled()) return;
  const AxisTaps taps(is_running ? running(axis.resampling()) : axis.resampling());
  start = axis.source_start() + taps.source_begin();
  extent = taps.source_end() - taps.source_begin();
}

}  // namespace

int ImageRegion::allowed_shrinking(int64_t height, int64_t width) {
  plan(height, width);
  if (!geometry_->is_resampled()) return 1;
  const float shrinking = std::min(geometry_->rows().shrinking(), geometry_->columns().shrinking());
  return shrinking >= 8 ? 8 : shrinking >= 4 ? 4 : shrinking >= 2 ? 2 : 1;
}

CropWindow ImageRegion::choose_region(int64_t height, int64_t width) {
  plan_decoded(height, width);
  CropWindow region;
  find_source(geometry_->rows(), /*is_running=*/true, region.y, region.height);
  find_source(geometry_->columns(), /*is_running=*/false, region.x, region.width);
  first_row_ = region.y;
  first_column_ = region.x;
  return region;
}

void ImageRegion::plan_decoded(int64_t height, int64_t width) {
  if (!geometry_) plan(height, width);
  geometry_ = planned_;
  if (geometry_->rows().image_size() != height || geometry_->columns().image_size() != width)
    geometry_->rescale(height, width);
}

void ImageRegion::plan(int64_t height, int64_t width) {
  full_height_ = height;
  full_width_ = width;
  geometry_.emplace(height, width, type_, has_layout_);
  for (const auto& member : steps_)
    if (!member.step->reshape(contexts_[member.number], *geometry_)) throw Refused();
  planned_ = geometry_;
}

}  // namespace dali_core
