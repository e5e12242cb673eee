#include "dali_core/kernels/resize/resize_size.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace dali_core {
namespace {

// A region narrower than this is widened to it, so that an empty one still is a place.
constexpr float kSmallestRegion = 1e-3f;
// Every pixel of a region is weighted, even those beyond the image.
constexpr float kWidestRegion = 1e8f;
// Positions of pixels are computed with 64 bits.
constexpr float kFarthestRegion = 1e12f;
// The size of a fraction of a pixel that still counts, as in the reference.
constexpr float kSmallestSize = 0.1f;
// Sizes are stored in 32 bits.
constexpr float kLargestSize = 1e9f;

ResizeMode mode_of(const std::string& name) {
  if (name == "default") return ResizeMode::kDefault;
  if (name == "stretch") return ResizeMode::kStretch;
  if (name == "not_larger") return ResizeMode::kNotLarger;
  return ResizeMode::kNotSmaller;
}

SizeRounding rounding_of(const std::string& name) {
  if (name == "truncate") return SizeRounding::kTruncate;
  return name == "ceil" ? SizeRounding::kCeil : SizeRounding::kRound;
}

// One value for all axes, or one for each.
void spread(const std::vector<float>& values, const char* name, int num_axes, float* to) {
  if (values.size() != 1 && static_cast<int>(values.size()) != num_axes)
    throw std::invalid_argument(std::string(name) + " must be one number or one for each of the " +
                                std::to_string(num_axes) + " axes (got " +
                                std::to_string(values.size()) +
                                " values). Channels and frames do not count.");
  for (int i = 0; i < num_axes; ++i) to[i] = values[values.size() == 1 ? 0 : i];
}

}  // namespace

ResizeSize::ResizeSize(const OperatorConfig& config)
    : x_(config, "resize_x"),
      y_(config, "resize_y"),
      z_(config, "resize_z"),
      shorter_(config, "resize_shorter"),
      longer_(config, "resize_longer"),
      size_(config, config.has("sizes") ? "sizes" : "size"),
      scales_(config, "scales"),
      alignment_(config, "alignment"),
      roi_start_(config, "roi_start"),
      roi_end_(config, "roi_end"),
      max_size_(config.get_or<std::vector<float>>("max_size", {})),
      mode_(ResizeMode::kDefault),
      rounding_(rounding_of(config.get_or<std::string>("size_rounding", "round"))),
      roi_relative_(config.get<bool>("roi_relative")),
      subpixel_scale_(config.get<bool>("subpixel_scale")) {
  const bool separate = x_.given() || y_.given() || z_.given();
  const int ways = separate + size_.given() + scales_.given() + shorter_.given() + longer_.given();
  if (ways != 1)
    throw std::invalid_argument(
        "the size must be given in exactly one way (got " + std::to_string(ways) +
        "). Use size, or resize_x, resize_y and resize_z, or resize_shorter, or resize_longer.");
  if (roi_start_.given() != roi_end_.given())
    throw std::invalid_argument(
        std::string("roi_start and roi_end must be given together (got only ") +
        (roi_start_.given() ? "roi_start" : "roi_end") + "). Give both.");
  const bool has_mode = config.has("mode");
  if (has_mode && (shorter_.given() || longer_.given()))
    throw std::invalid_argument(
        "mode must be left out with resize_shorter and resize_longer, which imply it (got \"" +
        config.get<std::string>("mode") + "\"). Use size with that mode instead.");
  if (has_mode) mode_ = mode_of(config.get<std::string>("mode"));
  if (shorter_.given()) mode_ = ResizeMode::kNotSmaller;
  if (longer_.given()) mode_ = ResizeMode::kNotLarger;
}

void ResizeSize::requested_sizes(const SampleContext& sample, const int64_t* extents, int num_axes,
                                 float* size) const {
  std::vector<float> values;
  if (size_.given()) {
    spread(size_.at(sample, values), "size", num_axes, size);
  } else if (scales_.given()) {
    spread(scales_.at(sample, values), "scales", num_axes, size);
    for (int i = 0; i < num_axes; ++i) size[i] *= static_cast<float>(extents[i]);
  } else if (shorter_.given()) {
    spread({shorter_.at(sample)}, "resize_shorter", num_axes, size);
  } else if (longer_.given()) {
    spread({longer_.at(sample)}, "resize_longer", num_axes, size);
  } else {
    const int width = num_axes - 1;
    if (num_axes == 3) spread({z_.at_or(sample, 0.0f)}, "resize_z", 1, size);
    spread({y_.at_or(sample, 0.0f)}, "resize_y", 1, size + width - 1);
    spread({x_.at_or(sample, 0.0f)}, "resize_x", 1, size + width);
  }
}

void ResizeSize::limits(int num_axes, float* limit) const {
  std::fill_n(limit, num_axes, std::numeric_limits<float>::infinity());
  if (max_size_.empty()) return;
  spread(max_size_, "max_size", num_axes, limit);
  for (int i = 0; i < num_axes; ++i)
    if (limit[i] <= 0) limit[i] = std::numeric_limits<float>::infinity();
}

// Turns requested sizes (0 where there is none) into fractional sizes of the output.
void ResizeSize::fit(int num_axes, const float* extent, const float* limit, float* size) const {
  int num_given = 0;
  float product = 1;
  float smallest = std::numeric_limits<float>::infinity();
  float largest = 0;
  for (int i = 0; i < num_axes; ++i) {
    if (size[i] == 0 || extent[i] == 0) continue;
    const float scale = size[i] / extent[i];
    product *= scale;
    smallest = std::min(smallest, scale);
    largest = std::max(largest, scale);
    ++num_given;
  }
  if (num_given == 0) {
    std::copy_n(extent, num_axes, size);
    return;
  }
  if (mode_ == ResizeMode::kDefault || mode_ == ResizeMode::kStretch) {
    // Without a given size, scale by the (geometric) mean of the others.
    const float mean = mode_ == ResizeMode::kStretch ? 1
                       : num_given == 1              ? product
                       : num_given == 2              ? std::sqrt(product)
                       : num_given == 3 ? std::cbrt(product)
                                        : std::pow(product, 1 / static_cast<float>(num_given));
    for (int i = 0; i < num_axes; ++i)
      size[i] = std::min(size[i] == 0 ? extent[i] * mean : size[i], limit[i]);
    return;
  }
  const float scale = mode_ == ResizeMode::kNotLarger ? smallest : largest;
  int tightest = 0;
  for (int i = 1; i < num_axes; ++i)
    if (limit[i] * extent[tightest] < limit[tightest] * extent[i]) tightest = i;
  const bool limited = scale * extent[tightest] > limit[tightest];
  for (int i = 0; i < num_axes; ++i)
    size[i] = limited ? extent[i] * limit[tightest] / extent[tightest] : extent[i] * scale;
}

void ResizeSize::set_region(const SampleContext& sample, const int64_t* extents, int num_axes,
                            ResampleAxis* axes) const {
  float start[kMaxDims] = {};
  float end[kMaxDims] = {};
  if (roi_start_.given()) {
    std::vector<float> values;
    spread(roi_start_.at(sample, values), "roi_start", num_axes, start);
    spread(roi_end_.at(sample, values), "roi_end", num_axes, end);
  }
  for (int i = 0; i < num_axes; ++i) {
    const float extent = static_cast<float>(extents[i]);
    axes[i].input_size = extents[i];
    axes[i].begin = 0;
    axes[i].end = extent;
    if (!roi_start_.given()) continue;
    const float unit = roi_relative_ ? extent : 1;
    axes[i].begin = start[i] * unit;
    axes[i].end = end[i] * unit;
    if (std::fabs(axes[i].end - axes[i].begin) < kSmallestRegion) {
      const float half = axes[i].end < axes[i].begin ? -kSmallestRegion / 2 : kSmallestRegion / 2;
      const float centre = (axes[i].begin + axes[i].end) / 2;
      axes[i].begin = centre - half;
      axes[i].end = centre + half;
    }
  }
}

int64_t ResizeSize::rounded(float size) const {
  if (rounding_ == SizeRounding::kTruncate) return static_cast<int64_t>(size);
  if (rounding_ == SizeRounding::kCeil) return static_cast<int64_t>(std::ceil(size));
  return std::llround(size);
}

void ResizeSize::choose(const SampleContext& sample, const int64_t* extents, int num_axes,
                        ResampleAxis* axes) const {
  float size[kMaxDims] = {};
  float extent[kMaxDims] = {};
  float limit[kMaxDims] = {};
  bool flipped[kMaxDims] = {};
  requested_sizes(sample, extents, num_axes, size);
  set_region(sample, extents, num_axes, axes);
  limits(num_axes, limit);
  const bool keeps_aspect = mode_ == ResizeMode::kNotLarger || mode_ == ResizeMode::kNotSmaller;
  const bool any_size = std::any_of(size, size + num_axes, [](float s) { return s != 0; });
  for (int i = 0; i < num_axes; ++i) {
    flipped[i] = size[i] < 0;
    // As in NVIDIA DALI, a reversed region mirrors only an axis whose size is asked for.
    if (size[i] == 0 && !(keeps_aspect && any_size)) flipped[i] = axes[i].end < axes[i].begin;
    size[i] = std::fabs(size[i]);
    extent[i] = extents[i] == 0 ? 0 : std::fabs(axes[i].end - axes[i].begin);
  }
  fit(num_axes, extent, limit, size);
  float alignment[kMaxDims];
  std::fill_n(alignment, num_axes, 0.5f);
  std::vector<float> values;
  if (alignment_.given()) spread(alignment_.at(sample, values), "alignment", num_axes, alignment);
  for (int i = 0; i < num_axes; ++i) {
    ResampleAxis& axis = axes[i];
    if (!(size[i] < kLargestSize))
      throw std::invalid_argument(
          "the output must have less than 10^9 pixels along each axis (got " +
          std::to_string(size[i]) + "). Ask for a smaller size.");
    axis.output_size = extents[i] == 0 ? 0 : std::max<int64_t>(1, rounded(size[i]));
    // Widening the region by what rounding added keeps the scale as it was asked for.
    if (subpixel_scale_ && size[i] > 0 && static_cast<float>(axis.output_size) != size[i]) {
      const float width = (axis.end - axis.begin) *
                          (static_cast<float>(axis.output_size) / std::max(size[i], kSmallestSize));
      if (alignment[i] == 0.5f) {
        const float centre = (axis.begin + axis.end) / 2;
        axis.begin = centre - width / 2;
        axis.end = centre + width / 2;
      } else {
        const float fixed = (1 - alignment[i]) * axis.begin + alignment[i] * axis.end;
        axis.begin = fixed - alignment[i] * width;
        axis.end = fixed + (1 - alignment[i]) * width;
      }
    }
    if (!(std::fabs(axis.end - axis.begin) < kWidestRegion))
      throw std::invalid_argument("the region to resize must be narrower than 10^8 pixels (got " +
                                  std::to_string(axis.end - axis.begin) +
                                  "). Ask for a smaller region.");
    if (!(std::fabs(axis.begin) < kFarthestRegion))
      throw std::invalid_argument("the region to resize must begin nearer than 10^12 pixels (got " +
                                  std::to_string(axis.begin) + "). Ask for a region of the image.");
    if (flipped[i]) std::swap(axis.begin, axis.end);
  }
}

}  // namespace dali_core
