#include "dali_core/operators/crop/crop.hpp"

#include <algorithm>
#include <cstring>

#include "dali_core/crop_window.hpp"
#include "dali_core/geometry.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

// Copies a window, dimension by dimension, down to runs that are contiguous on both sides.
template <typename To, typename From>
class WindowCopy {
 public:
  WindowCopy(const Tensor& input, const Window& window, OutOfBounds policy, int channel_axis,
             const std::vector<float>& fill_values)
      : shape_(input.shape),
        window_(window),
        policy_(policy),
        channel_axis_(channel_axis),
        input_strides_(dense_strides(input.shape)),
        output_strides_(dense_strides(window.extent)) {
    for (float value : fill_values) fill_.push_back({fill_value<To>(value)});
    last_cut_ = 0;
    for (int i = 0; i < shape_.ndim; ++i)
      if (window.start[i] != 0 || window.extent[i] != shape_[i]) last_cut_ = i;
  }

  void run(const From* in, To* out) const { copy(0, in, out, 0); }

 private:
  void copy(int dim, const From* in, To* out, int64_t channel) const {
    const int64_t start = window_.start[dim];
    const int64_t extent = window_.extent[dim];
    const int64_t first = std::clamp<int64_t>(-start, 0, extent);
    const int64_t last = std::clamp<int64_t>(shape_[dim] - start, first, extent);
    if (dim == last_cut_ && first < last)
      copy_run(in + crop_source(first, start) * input_strides_[dim],
               out + first * output_strides_[dim], (last - first) * output_strides_[dim]);
    else
      for (int64_t i = first; i < last; ++i) copy_slice(dim, i, in, out, channel);
    copy_outside(dim, 0, first, in, out, channel);
    copy_outside(dim, last, extent, in, out, channel);
  }

  // Copies slice `i` of the window along one dimension.
  void copy_slice(int dim, int64_t i, const From* in, To* out, int64_t channel) const {
    int64_t source = crop_source(i, window_.start[dim]);
    if (repeats_image(policy_)) source = repeated_source(source, shape_[dim], policy_);
    in += source * input_strides_[dim];
    out += i * output_strides_[dim];
    if (dim == last_cut_)
      copy_run(in, out, output_strides_[dim]);
    else
      copy(dim + 1, in, out, dim == channel_axis_ ? i : channel);
  }

  // Makes the slices [begin, end) of the window, which lie beside the image.
  void copy_outside(int dim, int64_t begin, int64_t end, const From* in, To* out,
                    int64_t channel) const {
    if (begin == end) return;
    if (repeats_image(policy_))
      for (int64_t i = begin; i < end; ++i) copy_slice(dim, i, in, out, channel);
    else
      fill(dim, out + begin * output_strides_[dim], out + end * output_strides_[dim], channel);
  }

  static void copy_run(const From* in, To* out, int64_t count) {
    if constexpr (std::is_same_v<To, From>)
      std::memcpy(out, in, static_cast<size_t>(count) * sizeof(To));
    else
      for (int64_t i = 0; i < count; ++i) out[i] = crop_convert<To>(in[i]);
  }

  // Fills everything from `out` to `stop`, which are slices along one dimension.
  void fill(int dim, To* out, To* stop, int64_t channel) const {
    if (fill_.size() == 1 || dim > channel_axis_) {
      std::fill(out, stop, fill_[fill_.size() == 1 ? 0 : channel].value);
      return;
    }
    const int64_t run = output_strides_[channel_axis_];
    for (size_t c = 0; out < stop; out += run) {
      std::fill(out, out + run, fill_[c].value);
      c = c + 1 == fill_.size() ? 0 : c + 1;
    }
  }

  // Keeps std::vector from packing booleans.
  struct Fill {
    To value;
  };

  Shape shape_;
  Window window_;
  OutOfBounds policy_;
  int channel_axis_;
  Strides input_strides_, output_strides_;
  std::vector<Fill> fill_;
  int last_cut_;
};

}  // namespace

class Crop : public Operator {
 public:
  explicit Crop(const OperatorConfig& config)
      : crop_(config),
        policy_(out_of_bounds_policy(config, true)),
        fill_values_(config.get_or<std::vector<float>>("fill_values", {0.0f})),
        type_(config.get_or<DataType>("dtype",
                                      config.get_or<DataType>("output_dtype", DataType::kNone))) {
    if (fill_values_.empty())
      throw std::invalid_argument(
          "fill_values must be one number or one for each channel (got none). Leave it out to fill "
          "with zeros.");
    if (type_ != DataType::kNone && type_ != DataType::kUInt8 && type_ != DataType::kFloat &&
        type_ != DataType::kFloat16)
      only_type_ = type_;
  }

  void run(SampleContext& sample) const override {
    const Tensor& image = sample.input(0);
    const Layout layout = image_layout(image, "DHWC");
    const ImageAxes axes = image_axes(layout);
    Window window = crop_.window(sample, image.shape, axes);
    apply_policy(window, image.shape, policy_);
    const DataType type = type_ == DataType::kNone ? image.type : type_;
    if (only_type_ != DataType::kNone && only_type_ != image.type)
      throw std::invalid_argument("dtype must be UINT8, FLOAT16, FLOAT or the input's type (got " +
                                  std::string(name_of(type)) + " for an input of type " +
                                  name_of(image.type) + "). Use fn.cast.");
    if (type == image.type && window.is_whole(image.shape)) {
      sample.forward(0, image).layout = layout;
      return;
    }
    if (policy_ == OutOfBounds::kPad && fill_values_.size() != 1) check_fill(image.shape, axes);
    Tensor& output = sample.output(0, type, window.extent, layout);
    visit_type(image.type, [&](auto zero) {
      using From = decltype(zero);
      if (type == image.type)
        copy<From, From>(image, window, axes, output);
      else if (type == DataType::kUInt8)
        copy<uint8_t, From>(image, window, axes, output);
      else if (type == DataType::kFloat16)
        copy<Half, From>(image, window, axes, output);
      else
        copy<float, From>(image, window, axes, output);
    });
  }

 private:
  void check_fill(const Shape& shape, const ImageAxes& axes) const {
    const int64_t channels = axes.channel < 0 ? 1 : shape[axes.channel];
    if (static_cast<int64_t>(fill_values_.size()) != channels)
      throw std::invalid_argument("fill_values must be one number or one for each of the " +
                                  std::to_string(channels) + " channels (got " +
                                  std::to_string(fill_values_.size()) +
                                  "). Pass as many as there are channels.");
  }

  template <typename To, typename From>
  void copy(const Tensor& image, const Window& window, const ImageAxes& axes,
            Tensor& output) const {
    WindowCopy<To, From>(image, window, policy_, axes.channel, fill_values_)
        .run(image.as<From>(), output.as<To>());
  }

  CropArguments crop_;
  OutOfBounds policy_;
  std::vector<float> fill_values_;
  DataType type_;
  DataType only_type_ = DataType::kNone;  // a type that crop cannot convert to
};

DALI_CORE_REGISTER_OPERATOR("crop", Crop)

}  // namespace dali_core
