#include "dali_core/kernels/jpeg/sequential_jpeg_planes.hpp"

#include <algorithm>
#include <cstring>

#include "dali_core/kernels/jpeg/jpeg_inverse_dct.hpp"
#include "dali_core/kernels/jpeg/jpeg_rows.hpp"

namespace dali_core {
namespace {

constexpr int64_t kSide = 8;  // of a block
// Before and behind the samples of a row: its neighbours for interpolation, and what is written of
// a block that is not there.
constexpr int64_t kMargin = 32;

int64_t divide_up(int64_t value, int64_t by) { return (value + by - 1) / by; }

size_t count_of(int64_t value) { return static_cast<size_t>(value); }

}  // namespace

bool SequentialPlanes::open(const SequentialJpegFile& file, const EncodedImage& encoded,
                            const CropWindow& region, int num_wanted) {
  file_ = &file;
  region_ = region;
  num_wanted_ = num_wanted;
  if (!scan_.open(file, encoded)) return false;
  group_rows_ = divide_up(file.height, kSide * file.vertical);
  group_columns_ = divide_up(file.width, kSide * file.horizontal);
  rows_below_ = 0;
  first_group_ = group_columns_;
  last_group_ = 0;
  int64_t rows_before = 0;
  for (int i = 0; i < num_wanted; ++i) {
    Plane& plane = planes_[i];
    const SequentialComponent& part = file.components[i];
    plane.wider = file.horizontal / part.horizontal;
    plane.taller = file.vertical / part.vertical;
    plane.width = divide_up(file.width, plane.wider);
    plane.height = divide_up(file.height, plane.taller);
    // What the library does with each pair of factors.
    plane.growth = Growth::kRepeat;
    if (plane.wider == 1 && plane.taller == 1) plane.growth = Growth::kNone;
    if (plane.wider == 1 && plane.taller == 2) plane.growth = Growth::kBlendRows;
    if (plane.wider == 2 && plane.width > 2) {
      if (plane.taller == 1) plane.growth = Growth::kWiden;
      if (plane.taller == 2) plane.growth = Growth::kWidenBoth;
    }
    const bool has_neighbours =
        plane.growth == Growth::kWidenBoth || plane.growth == Growth::kBlendRows;
    if (has_neighbours) rows_below_ = 1;
    const int64_t margin =
        plane.growth == Growth::kWiden || plane.growth == Growth::kWidenBoth ? 1 : 0;
    const int64_t first = std::max<int64_t>(0, region.x / plane.wider - margin);
    const int64_t last =
        std::min(plane.width - 1, (region.x + region.width - 1) / plane.wider + margin);
    first_group_ = std::min(first_group_, first / (kSide * part.horizontal));
    last_group_ = std::max(last_group_, last / (kSide * part.horizontal));
    const int64_t above = std::max<int64_t>(0, region.y / plane.taller - (has_neighbours ? 1 : 0));
    const int64_t group_row = above / (kSide * part.vertical);
    rows_before = i == 0 ? group_row : std::min(rows_before, group_row);
  }
  for (int i = 0; i < num_wanted; ++i) plan(planes_[i], file.components[i]);

  int64_t blocks = 0;
  for (int i = 0; i < file.num_components; ++i)
    blocks += file.components[i].horizontal * file.components[i].vertical;
  const int64_t rows_needed =
      divide_up(region.y + region.height, kSide * file.vertical) - rows_before;
  const int64_t beside = group_columns_ - (last_group_ - first_group_ + 1);
  scan_.expect_skipping(blocks * (rows_before * group_columns_ + rows_needed * beside));
  next_group_row_ = rows_before;
  groups_to_skip_ = 0;
  return scan_.skip(rows_before * group_columns_);
}

void SequentialPlanes::plan(Plane& plane, const SequentialComponent& part) {
  plane.first = first_group_ * kSide * part.horizontal;
  plane.blocks = (last_group_ - first_group_ + 1) * part.horizontal;
  plane.columns = std::min(plane.blocks * kSide, plane.width - plane.first);
  plane.stride = plane.blocks * kSide + 2 * kMargin;
  plane.num_rows = 2 * kSide * part.vertical;
  plane.samples.at_least(count_of(plane.stride * plane.num_rows));
  // One more block in each row than there are: they are transformed in pairs.
  const int64_t blocks = (plane.blocks + 1) * part.vertical;
  std::memset(plane.coefficients.at_least(count_of(64 * blocks)), 0,
              count_of(64 * blocks) * sizeof(int16_t));
  std::memset(plane.counts.at_least(count_of(blocks)), 0, count_of(blocks));
  plane.grown.at_least(count_of(plane.blocks * kSide * plane.wider));
}

bool SequentialPlanes::read_group_row() {
  CoefficientRows rows[SequentialJpegFile::kMaxComponents];
  for (int i = 0; i < file_->num_components; ++i) {
    rows[i].is_wanted = i < num_wanted_;
    if (!rows[i].is_wanted) continue;
    rows[i].blocks = planes_[i].coefficients.get();
    rows[i].counts = planes_[i].counts.get();
    rows[i].blocks_per_row = planes_[i].blocks + 1;
  }
  if (!scan_.skip(groups_to_skip_ + first_group_) ||
      !scan_.read(last_group_ - first_group_ + 1, rows))
    return false;
  groups_to_skip_ = group_columns_ - 1 - last_group_;
  for (int i = 0; i < num_wanted_; ++i)
    if (!transform(planes_[i], file_->components[i])) return false;
  ++next_group_row_;
  return true;
}

bool SequentialPlanes::transform(Plane& plane, const SequentialComponent& part) {
  for (int v = 0; v < part.vertical; ++v) {
    const int64_t first = (next_group_row_ * part.vertical + v) * kSide;
    const int64_t first_block = v * (plane.blocks + 1);
    uint8_t* const out = plane.samples.get() + first % plane.num_rows * plane.stride + kMargin;
    if (!inverse_dct_row(plane.coefficients.get() + 64 * first_block,
                         plane.counts.get() + first_block, plane.blocks,
                         file_->quantization[part.quantization], out, plane.stride))
      return false;
    if (plane.growth != Growth::kWiden && plane.growth != Growth::kWidenBoth) continue;
    // Beyond the ends are the ends again.
    for (int64_t y = 0; y < kSide; ++y) {
      uint8_t* const row = out + y * plane.stride;
      row[-1] = row[0];
      row[plane.columns] = row[plane.columns - 1];
    }
  }
  return true;
}

const uint8_t* SequentialPlanes::sample_row(const Plane& plane, int64_t y) const {
  const int64_t inside = std::clamp<int64_t>(y, 0, plane.height - 1);
  return plane.samples.get() + inside % plane.num_rows * plane.stride + kMargin;
}

const uint8_t* SequentialPlanes::grow(Plane& plane, int64_t y) {
  const int64_t nearer = y / plane.taller;
  const bool is_upper = y % plane.taller == 0;
  const uint8_t* const in = sample_row(plane, nearer);
  const uint8_t* const other = sample_row(plane, is_upper ? nearer - 1 : nearer + 1);
  uint8_t* const out = plane.grown.get();
  switch (plane.growth) {
    case Growth::kNone:
      return in;
    case Growth::kWiden:
      widen_row(in, plane.columns, out);
      break;
    case Growth::kWidenBoth:
      widen_rows(in, other, plane.columns, out);
      break;
    case Growth::kBlendRows:
      blend_rows(in, other, plane.columns, is_upper, out);
      break;
    case Growth::kRepeat:
      if (plane.wider == 1) return in;
      repeat_samples(in, plane.columns, plane.wider, out);
      break;
  }
  return out;
}

bool SequentialPlanes::row(int64_t y, const uint8_t* rows[SequentialJpegFile::kMaxComponents]) {
  const int64_t of_image = region_.y + y;
  const int64_t last = std::min(file_->height - 1, of_image + rows_below_);
  while (next_group_row_ * kSide * file_->vertical <= last)
    if (!read_group_row()) return false;
  for (int i = 0; i < num_wanted_; ++i)
    rows[i] = grow(planes_[i], of_image) + region_.x - planes_[i].first * planes_[i].wider;
  return true;
}

bool SequentialPlanes::finish() {
  if (next_group_row_ < group_rows_) return !scan_.is_beyond_interval();
  return scan_.skip(groups_to_skip_) && scan_.is_at_end();
}

void SequentialPlanes::release() {
  constexpr size_t kKeptBytes = size_t{8} << 20;
  scan_.release_beyond(kKeptBytes);
  for (Plane& plane : planes_) {
    plane.samples.release_beyond(kKeptBytes);
    plane.coefficients.release_beyond(kKeptBytes / sizeof(int16_t));
  }
}

}  // namespace dali_core
