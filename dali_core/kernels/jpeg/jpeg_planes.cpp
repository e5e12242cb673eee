#include "dali_core/kernels/jpeg/jpeg_planes.hpp"

#include <algorithm>
#include <cstring>

#include "dali_core/kernels/jpeg/jpeg_inverse_dct.hpp"
#include "dali_core/kernels/jpeg/jpeg_reduced_dct.hpp"
#include "dali_core/kernels/jpeg/jpeg_rows.hpp"

namespace dali_core {
namespace {

constexpr int kSide = JpegPart::kFullSide;  // of a block
// Before and behind the samples of a row: its neighbours for interpolation, and what is written of
// a block that is not there.
constexpr int64_t kMargin = 32;

int64_t divide_up(int64_t value, int64_t by) { return (value + by - 1) / by; }

size_t count_of(int64_t value) { return static_cast<size_t>(value); }

}  // namespace

// Blocks of subsampled components become larger, rather than be interpolated.
int JpegPlanes::side_of(const HuffmanJpegFile& file, int side,
                        const HuffmanJpegComponent& component) {
  const auto divides = [&](int wanted) {
    return file.horizontal * side % (component.horizontal * wanted) == 0 &&
           file.vertical * side % (component.vertical * wanted) == 0;
  };
  int larger = side;
  while (larger < kSide && divides(2 * larger)) larger *= 2;
  return larger;
}

PlaneSize JpegPlanes::size_of(const HuffmanJpegFile& file, int side, int number) {
  const HuffmanJpegComponent& component = file.components[number];
  const int own = side_of(file, side, component);
  PlaneSize size;
  size.wider = file.horizontal * side / (component.horizontal * own);
  size.taller = file.vertical * side / (component.vertical * own);
  size.width = divide_up(file.width * component.horizontal * own, file.horizontal * kSide);
  size.height = divide_up(file.height * component.vertical * own, file.vertical * kSide);
  return size;
}

// What the library does with each pair of factors, at each size.
JpegPlanes::Growth JpegPlanes::growth_of(const Plane& plane) const {
  const PlaneSize& size = plane.size;
  if (!part_.is_grown || (size.wider == 1 && size.taller == 1)) return Growth::kNone;
  if (part_.side == 1) return Growth::kRepeat;
  if (size.wider == 1 && size.taller == 2) return Growth::kBlendRows;
  if (size.wider == 2 && size.width > 2) {
    if (size.taller == 1) return Growth::kWiden;
    if (size.taller == 2) return Growth::kWidenBoth;
  }
  return Growth::kRepeat;
}

bool JpegPlanes::open(HuffmanJpegFile& file, const EncodedImage& encoded, const JpegPart& part,
                      const ScanPoints* known, bool notes) {
  file_ = &file;
  part_ = part;
  const CropWindow& region = part.region;
  height_ = part.size_of(file.height);
  group_rows_ = file.group_rows();
  group_columns_ = file.group_columns();
  rows_below_ = 0;
  first_group_ = group_columns_;
  last_group_ = 0;
  int64_t rows_before = 0;
  for (int i = 0; i < part.num_components; ++i) {
    Plane& plane = planes_[i];
    const HuffmanJpegComponent& component = file.components[i];
    plane.side = side_of(file, part.side, component);
    plane.size = size_of(file, part.side, i);
    plane.growth = growth_of(plane);
    const bool has_neighbours =
        plane.growth == Growth::kWidenBoth || plane.growth == Growth::kBlendRows;
    if (has_neighbours) rows_below_ = 1;
    const int64_t margin =
        plane.growth == Growth::kWiden || plane.growth == Growth::kWidenBoth ? 1 : 0;
    const int64_t first = std::max<int64_t>(0, region.x / plane.size.wider - margin);
    const int64_t last =
        std::min(plane.size.width - 1, (region.x + region.width - 1) / plane.size.wider + margin);
    const int64_t of_group = int64_t{plane.side} * component.horizontal;
    first_group_ = std::min(first_group_, first / of_group);
    last_group_ = std::max(last_group_, last / of_group);
    const int64_t above =
        std::max<int64_t>(0, region.y / plane.size.taller - (has_neighbours ? 1 : 0));
    const int64_t group_row = above / (int64_t{plane.side} * component.vertical);
    rows_before = i == 0 ? group_row : std::min(rows_before, group_row);
  }
  for (int i = 0; i < part.num_components; ++i) plan(planes_[i], file.components[i]);
  next_group_row_ = rows_before;
  if (file.is_progressive) return scans_.read(file, encoded, part.num_components);

  const int64_t last_row = std::min(height_ - 1, region.y + region.height - 1 + rows_below_) /
                           (int64_t{part.side} * file.vertical);
  const int64_t end = last_row * group_columns_ + last_group_ + 1;
  if (!scan_.open(file, encoded, rows_before * group_columns_ + first_group_, end, known, notes))
    return false;
  int64_t blocks = 0, passed = 0;  // of a group
  for (int i = 0; i < file.num_components; ++i) {
    const int count = file.components[i].horizontal * file.components[i].vertical;
    blocks += count;
    if (i >= part.num_components || planes_[i].side == 1) passed += count;
  }
  const int64_t known_rows = scan_.known_rows();
  const int64_t above = std::max<int64_t>(0, rows_before - known_rows);
  const int64_t unknown_rows =
      std::max<int64_t>(0, last_row + 1 - std::max(known_rows, rows_before));
  const int64_t columns = last_group_ - first_group_ + 1;
  const int64_t beside = group_columns_ - columns;
  scan_.expect_skipping(blocks * (above * group_columns_ + unknown_rows * beside) +
                        passed * (last_row + 1 - rows_before) * columns);
  return true;
}

void JpegPlanes::plan(Plane& plane, const HuffmanJpegComponent& component) {
  plane.first = first_group_ * plane.side * component.horizontal;
  plane.blocks = (last_group_ - first_group_ + 1) * component.horizontal;
  plane.columns = std::min(plane.blocks * plane.side, plane.size.width - plane.first);
  plane.stride = plane.blocks * plane.side + 2 * kMargin;
  plane.num_rows = int64_t{2} * plane.side * component.vertical;
  plane.samples.at_least(count_of(plane.stride * plane.num_rows));
  // One more block in each row than there are: they are transformed in pairs.
  const int64_t blocks = (plane.blocks + 1) * component.vertical;
  if (!file_->is_progressive)
    std::memset(plane.coefficients.at_least(count_of(64 * blocks)), 0,
                count_of(64 * blocks) * sizeof(int16_t));
  std::memset(plane.counts.at_least(count_of(blocks)), 0, count_of(blocks));
  plane.grown.at_least(count_of(plane.blocks * plane.side * plane.size.wider));
  if (part_.is_fast)
    scale_fast_steps(file_->quantization[component.quantization], plane.fast_steps);
}

bool JpegPlanes::read_group_row() {
  CoefficientRows rows[HuffmanJpegFile::kMaxComponents];
  for (int i = 0; i < file_->num_components; ++i) {
    rows[i].is_wanted = i < part_.num_components;
    if (!rows[i].is_wanted) continue;
    rows[i].is_mean_only = planes_[i].side == 1;
    rows[i].blocks = planes_[i].coefficients.get();
    rows[i].counts = planes_[i].counts.get();
    rows[i].blocks_per_row = planes_[i].blocks + 1;
  }
  return scan_.skip_to(next_group_row_ * group_columns_ + first_group_) &&
         scan_.read(last_group_ - first_group_ + 1, rows);
}

bool JpegPlanes::transform_group_row() {
  if (!file_->is_progressive && !read_group_row()) return false;
  for (int i = 0; i < part_.num_components; ++i) {
    Plane& plane = planes_[i];
    const HuffmanJpegComponent& component = file_->components[i];
    for (int v = 0; v < component.vertical; ++v) {
      const int64_t row = next_group_row_ * component.vertical + v;
      const int64_t first = v * (plane.blocks + 1);
      uint8_t* const counts = plane.counts.get() + first;
      int16_t* blocks = nullptr;
      if (file_->is_progressive) {
        const int64_t column = plane.first / plane.side;
        const uint64_t* const known = scans_.known(i, row) + column;
        blocks = scans_.blocks(i, row) + 64 * column;
        for (int64_t x = 0; x < plane.blocks; ++x)
          counts[x] = static_cast<uint8_t>(64 - __builtin_ctzll(known[x] | uint64_t{1} << 63));
      } else {
        blocks = plane.coefficients.get() + 64 * first;
      }
      if (!transform(i, row, blocks, counts)) return false;
    }
  }
  ++next_group_row_;
  return true;
}

bool JpegPlanes::transform(int component, int64_t row, int16_t* blocks, uint8_t* counts) {
  const Plane& plane = planes_[component];
  const uint16_t* const steps = file_->quantization[file_->components[component].quantization];
  uint8_t* const out =
      plane.samples.get() + row * plane.side % plane.num_rows * plane.stride + kMargin;
  bool is_exact;
  if (plane.side < kSide)
    is_exact =
        reduced_inverse_dct_row(plane.side, blocks, counts, plane.blocks, steps, out, plane.stride);
  else if (part_.is_fast)
    is_exact = fast_inverse_dct_row(blocks, plane.blocks, plane.fast_steps, out, plane.stride);
  else
    is_exact = inverse_dct_row(blocks, counts, plane.blocks, steps, out, plane.stride);
  if (!is_exact) return false;
  if (plane.growth != Growth::kWiden && plane.growth != Growth::kWidenBoth) return true;
  // Beyond the ends are the ends again.
  for (int64_t y = 0; y < plane.side; ++y) {
    uint8_t* const samples = out + y * plane.stride;
    samples[-1] = samples[0];
    samples[plane.columns] = samples[plane.columns - 1];
  }
  return true;
}

const uint8_t* JpegPlanes::sample_row(const Plane& plane, int64_t y) const {
  const int64_t inside = std::clamp<int64_t>(y, 0, plane.size.height - 1);
  return plane.samples.get() + inside % plane.num_rows * plane.stride + kMargin;
}

const uint8_t* JpegPlanes::grow(Plane& plane, int64_t y) {
  const int64_t nearer = y / plane.size.taller;
  const bool is_upper = y % plane.size.taller == 0;
  const uint8_t* const in = sample_row(plane, nearer);
  const uint8_t* const other = sample_row(plane, is_upper ? nearer - 1 : nearer + 1);
  uint8_t* const out = plane.grown.get();
  const int64_t column = part_.region.x / plane.size.wider - plane.first;
  switch (plane.growth) {
    case Growth::kNone:
      return in + column;
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
      if (plane.size.wider == 1) return in + column;
      repeat_samples(in, plane.columns, plane.size.wider, out);
      break;
  }
  return out + part_.region.x - plane.first * plane.size.wider;
}

bool JpegPlanes::row(int64_t y, const uint8_t* rows[HuffmanJpegFile::kMaxComponents]) {
  const int64_t of_image = part_.region.y + y;
  const int64_t last = std::min(height_ - 1, of_image + rows_below_);
  while (next_group_row_ * part_.side * file_->vertical <= last)
    if (!transform_group_row()) return false;
  for (int i = 0; i < part_.num_components; ++i) rows[i] = grow(planes_[i], of_image);
  return true;
}

bool JpegPlanes::finish() {
  if (file_->is_progressive) return true;
  if (next_group_row_ < group_rows_) return !scan_.is_beyond_interval();
  // Points in the last row are from a decode that continued to the end.
  if (scan_.is_known((group_rows_ - 1) * group_columns_)) return true;
  return scan_.skip_to(group_rows_ * group_columns_) && scan_.is_at_end();
}

void JpegPlanes::release() {
  constexpr size_t kKeptBytes = size_t{8} << 20;
  scan_.release_beyond(kKeptBytes);
  scans_.release_beyond(kKeptBytes);
  for (Plane& plane : planes_) {
    plane.samples.release_beyond(kKeptBytes);
    plane.coefficients.release_beyond(kKeptBytes / sizeof(int16_t));
  }
}

}  // namespace dali_core
