#include "dali_core/kernels/resample/resize_image.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/geometry.hpp"

namespace dali_core {
namespace {

constexpr size_t kPlanSlot = 0;
constexpr size_t kDepthTapsSlot = 1;
constexpr size_t kSliceSlot = 2;
constexpr size_t kVolumeSlot = 3;

// Resizes the slices of volumes, and blends along the depth before it.
class VolumeResizer {
 public:
  VolumeResizer(SampleContext& sample, const ResizeView& view, const ResampleAxis& depth)
      : sample_(sample),
        taps_(running(depth)),
        slice_(view.extent[1] * view.extent[2] * view.channels) {
    const int64_t weights = taps_.num_outputs() * taps_.num_taps();
    weights_ = sample.scratch<float>(kDepthTapsSlot, weights + taps_.num_outputs());
    starts_ = reinterpret_cast<int32_t*>(weights_ + weights);
    taps_.fill(starts_, weights_);
  }

  int64_t depth() const { return taps_.num_outputs(); }
  bool is_copy() const { return taps_.is_copy(); }

  const void* copied_slice(const char* volume, int64_t bytes, int64_t z) const {
    return volume + starts_[z] * slice_ * bytes;
  }

  // `volume` is of the type float.
  const void* blended_slice(const float* volume, int64_t z) {
    std::vector<const void*>& rows = rows_;
    rows.clear();
    for (int k = 0; k < taps_.num_taps(); ++k) rows.push_back(volume + (starts_[z] + k) * slice_);
    float* blended = sample_.scratch<float>(kSliceSlot, static_cast<size_t>(slice_));
    resample_kernels().blend_float(rows.data(), weights_ + z * taps_.num_taps(), taps_.num_taps(),
                                   slice_, blended);
    return blended;
  }

 private:
  SampleContext& sample_;
  AxisTaps taps_;
  int64_t slice_;  // elements
  float* weights_;
  int32_t* starts_;
  std::vector<const void*> rows_;
};

// One image at a time through the same plan.
class ImageResizer {
 public:
  ImageResizer(SampleContext& sample, const ResampleAxis* rows_and_columns, int64_t channels,
               DataType input, DataType output)
      : plan_(rows_and_columns[0], rows_and_columns[1], static_cast<int>(channels), input, output),
        row_stride_(rows_and_columns[1].input_size * channels * size_of(input)),
        output_(output) {
    plan_.bind(sample.scratch<char>(kPlanSlot, plan_.scratch_bytes()));
  }

  void run(const void* from, void* to) const {
    ResampleImage image;
    image.data = from;
    image.row_stride = row_stride_;
    const int64_t stride = plan_.output_width() * plan_.channels() * size_of(output_);
    resample<char>(plan_, image, RowsInMemory<char>{static_cast<char*>(to), stride});
  }

 private:
  ResamplePlan plan_;
  int64_t row_stride_;
  DataType output_;
};

const float* as_float_volume(SampleContext& sample, const Tensor& input) {
  if (input.type == DataType::kFloat) return input.as<float>();
  const int64_t count = input.num_elements();
  float* volume = sample.scratch<float>(kVolumeSlot, static_cast<size_t>(count));
  visit_type(input.type, [&](auto zero) {
    using T = decltype(zero);
    const T* from = input.as<T>();
    for (int64_t i = 0; i < count; ++i) volume[i] = convert<float>(from[i]);
  });
  return volume;
}

}  // namespace

ResizeView::ResizeView(const Tensor& image, bool volumes)
    : shape(image.shape), layout(image_layout(image, "FHWC")) {
  const ImageAxes axes = image_axes(layout);
  first_axis = axes.height;
  if (axes.depth >= 0 && volumes) {
    first_axis = axes.depth;
    num_axes = 3;
  }
  const int last_axis = first_axis + num_axes - 1;
  const bool adjacent = axes.width == last_axis && axes.height == last_axis - 1;
  const bool channels_outside =
      last_axis == layout.ndim() - 1 ||
      (axes.channel == last_axis + 1 && axes.channel == layout.ndim() - 1);
  if (!adjacent || !channels_outside || (axes.depth >= 0 && !volumes))
    throw std::invalid_argument(
        std::string("the input's layout must be HWC, CHW, FHWC, FCHW or CFHW") +
        (volumes ? ", or one of these with DHW in place of HW" : "") + " (got \"" + layout.c_str() +
        "\"). Transpose it, or give the layout where the data enters.");
  for (int i = 0; i < first_axis; ++i) outer *= image.shape[i];
  if (axes.channel > last_axis) channels = image.shape[axes.channel];
  for (int i = 0; i < num_axes; ++i) extent[i] = image.shape[first_axis + i];
}

ResizeFilters::ResizeFilters(const OperatorConfig& config)
    : both_(config, "interp_type"),
      shrinking_(config, "min_filter"),
      growing_(config, "mag_filter"),
      antialias_(config.get<bool>("antialias")),
      exclude_outside_(config.get_or<bool>("exclude_outside", false)),
      type_(config.get_or<DataType>("dtype", DataType::kNone)) {}

void ResizeFilters::choose(const SampleContext& sample, ResampleAxis& axis) const {
  const bool shrinks = std::fabs(axis.end - axis.begin) > static_cast<float>(axis.output_size);
  const Argument<ResampleFilter>& wanted = shrinks ? shrinking_ : growing_;
  axis.antialias = antialias_;
  axis.exclude_outside = exclude_outside_;
  axis.filter = wanted.given() ? wanted.at(sample) : both_.at(sample);
}

DataType ResizeFilters::output_type(DataType input) const {
  if (type_ == DataType::kNone || type_ == input) return input;
  if (type_ == DataType::kFloat) return type_;
  throw std::invalid_argument(std::string("dtype must be FLOAT or the input's type (got ") +
                              name_of(type_) + " for an input of type " + name_of(input) +
                              "). Use fn.cast before or after.");
}

bool resizing_changes_nothing(const Tensor& input, const ResizeView& view, const ResampleAxis* axes,
                              DataType type) {
  return type == input.type && std::all_of(axes, axes + view.num_axes,
                                           [](const ResampleAxis& a) { return a.is_identity(); });
}

Shape resized_shape(const Tensor& input, const ResizeView& view, const ResampleAxis* axes) {
  Shape shape = input.shape;
  for (int i = 0; i < view.num_axes; ++i) shape[view.first_axis + i] = axes[i].made();
  return shape;
}

void resize_image(SampleContext& sample, const ResizeView& view, const ResampleAxis* axes,
                  DataType type) {
  const Tensor& input = sample.input(0);
  if (resizing_changes_nothing(input, view, axes, type)) {
    sample.forward(0, input).layout = view.layout;
    return;
  }
  Tensor& output = sample.output(0, type, resized_shape(input, view, axes), view.layout);
  if (output.num_elements() == 0) return;

  const ResampleAxis* image_axes = axes + view.num_axes - 2;
  const int64_t in_image = image_axes[0].input_size * image_axes[1].input_size * view.channels;
  const int64_t out_image = image_axes[0].made() * image_axes[1].made() * view.channels;
  const int64_t out_bytes = out_image * size_of(type);
  char* to = output.as<char>();
  if (view.num_axes == 2) {
    const ImageResizer resizer(sample, image_axes, view.channels, input.type, type);
    const char* from = input.as<char>();
    for (int64_t i = 0; i < view.outer;
         ++i, from += in_image * size_of(input.type), to += out_bytes)
      resizer.run(from, to);
    return;
  }

  VolumeResizer volumes(sample, view, axes[0]);
  const DataType between = volumes.is_copy() ? input.type : DataType::kFloat;
  const ImageResizer resizer(sample, image_axes, view.channels, between, type);
  const int64_t bytes = size_of(between);
  const char* from = volumes.is_copy()
                         ? input.as<char>()
                         : reinterpret_cast<const char*>(as_float_volume(sample, input));
  for (int64_t i = 0; i < view.outer; ++i, from += view.extent[0] * in_image * bytes)
    for (int64_t z = 0; z < volumes.depth(); ++z, to += out_bytes)
      resizer.run(volumes.is_copy()
                      ? volumes.copied_slice(from, bytes, z)
                      : volumes.blended_slice(reinterpret_cast<const float*>(from), z),
                  to);
}

}  // namespace dali_core
