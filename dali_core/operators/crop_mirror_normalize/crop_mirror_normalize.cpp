#include "dali_core/operators/crop_mirror_normalize/crop_mirror_normalize.hpp"

#include <algorithm>
#include <cstring>

#include "dali_core/crop_window.hpp"
#include "dali_core/geometry.hpp"
#include "dali_core/operator.hpp"
#include "dali_core/operators/crop_mirror_normalize/normalize_arguments.hpp"
#include "dali_core/operators/crop_mirror_normalize/normalize_row.hpp"
#include "dali_core/simd.hpp"

#if DC_SIMD_X86
#include <immintrin.h>
#endif

#define DC_SIMD_SOURCE "dali_core/operators/crop_mirror_normalize/normalize_kernels.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {
namespace {

// Which dimension of the input each dimension of the output is.
struct Permutation {
  int input_axis[kMaxDims];

  Permutation(const Layout& input, const Layout& output) {
    bool same_letters = input.ndim() == output.ndim();
    for (int i = 0; same_letters && i < output.ndim(); ++i) {
      input_axis[i] = input.find(output[i]);
      same_letters = input_axis[i] >= 0 && output.find(output[i]) == i;
    }
    if (!same_letters)
      throw std::invalid_argument("output_layout must have the letters of the input's layout \"" +
                                  std::string(input.c_str()) + "\" (got \"" + output.c_str() +
                                  "\"). Reorder them, or pass \"\" to keep the layout.");
  }
};

// Walks over all rows of the output.
class RowWalk {
 public:
  RowWalk(const Tensor& image, const Window& window, const Permutation& permutation,
          const ImageAxes& axes, bool mirror, NormalizeRow& row, const float* fill_of_channel,
          Tensor& output)
      : row_(row),
        fill_(fill_of_channel),
        input_(static_cast<const uint8_t*>(image.data)),
        output_(static_cast<uint8_t*>(output.data)),
        output_type_(output.type) {
    const Strides input_strides = dense_strides(image.shape);
    const Strides output_strides = dense_strides(output.shape);
    for (int i = 0; i < output.shape.ndim; ++i) {
      const int axis = permutation.input_axis[i];
      const Dimension dimension{window.start[axis], window.extent[axis], image.shape[axis],
                                input_strides[axis], output_strides[i]};
      if (axis == axes.width)
        columns_ = dimension;
      else if (axis != axes.channel)
        outer_[num_outer_++] = dimension;
    }
    row.input_pixel_stride = mirror ? -columns_.input_stride : columns_.input_stride;
    row.output_pixel_stride = columns_.output_stride;
    // The output's columns that show the image; padding is beside them.
    first_ = std::clamp<int64_t>(-columns_.start, 0, columns_.extent);
    last_ = std::clamp<int64_t>(columns_.image_extent - columns_.start, first_, columns_.extent);
    source_ = first_;
    if (mirror) {
      source_ = last_ - 1;
      const int64_t width = columns_.extent;
      const int64_t mirrored = mirrored_column(last_ - 1, width, true);
      last_ = mirrored_column(first_, width, true) + 1;
      first_ = mirrored;
    }
    source_ += columns_.start;
  }

  int64_t max_pixels() const { return last_ - first_; }

  void run() const { walk(0, 0, 0, true); }

 private:
  struct Dimension {
    int64_t start, extent, image_extent, input_stride, output_stride;
  };

  // `in` and `out` count elements from the start of the tensors.
  void walk(int level, int64_t in, int64_t out, bool inside) const {
    if (level == num_outer_) {
      process(in, out, inside);
      return;
    }
    const Dimension& dim = outer_[level];
    for (int64_t i = 0; i < dim.extent; ++i) {
      const int64_t source = dim.start + i;
      walk(level + 1, in + source * dim.input_stride, out + i * dim.output_stride,
           inside && source >= 0 && source < dim.image_extent);
    }
  }

  void process(int64_t in, int64_t out, bool inside) const {
    if (!inside || first_ == last_) {
      fill(out, 0, columns_.extent, 0);
      return;
    }
    DC_SIMD_DISPATCH(normalize_row, row_,
                     input_ + (in + source_ * columns_.input_stride) * size_of(row_.input_type),
                     output_ + (out + first_ * columns_.output_stride) * size_of(output_type_),
                     output_type_, last_ - first_);
    fill(out, 0, first_, 0);
    fill(out, last_, columns_.extent, 0);
    // Pixels in one piece got their padding channels along with the others.
    if (row_.order != ChannelOrder::kPixels) fill(out, first_, last_, row_.channels);
  }

  // Fills columns [begin, end) of the channels from `channel` on.
  void fill(int64_t out, int64_t begin, int64_t end, int64_t channel) const {
    if (begin >= end || channel >= row_.output_channels) return;
    visit_type(output_type_, [&](auto zero) {
      using To = decltype(zero);
      To* const pixels = reinterpret_cast<To*>(output_) + out;
      for (int64_t c = channel; c < row_.output_channels; ++c) {
        const To value = fill_value<To>(fill_[c]);
        for (int64_t i = begin; i < end; ++i)
          pixels[i * row_.output_pixel_stride + c * row_.output_channel_stride] = value;
      }
    });
  }

  const NormalizeRow& row_;
  const float* fill_;
  const uint8_t* input_;
  uint8_t* output_;
  DataType output_type_;
  Dimension columns_{};
  Dimension outer_[kMaxDims];
  int num_outer_ = 0;
  int64_t first_, last_;  // columns of the output
  int64_t source_;        // column of the image that lands on `first_`
};

}  // namespace

class CropMirrorNormalize : public Operator {
 public:
  explicit CropMirrorNormalize(const OperatorConfig& config)
      : crop_(config),
        normalize_(config),
        mirror_(config, "mirror"),
        policy_(out_of_bounds_policy(config, false)),
        fill_values_(config.get_or<std::vector<float>>("fill_values", {0.0f})),
        pad_output_(config.get_or<bool>("pad_output", false)),
        output_layout_(config.get_or<std::string>("output_layout", "CHW")),
        type_(config.get_or<DataType>("output_dtype",
                                      config.get_or<DataType>("dtype", DataType::kFloat))) {
    if (fill_values_.empty())
      throw std::invalid_argument(
          "fill_values must be one number or one for each channel (got none). Leave it out to fill "
          "with zeros.");
  }

  void run(SampleContext& sample) const override {
    const Tensor& image = sample.input(0);
    const Layout layout = image_layout(image, "DHWC");
    const ImageAxes axes = image_axes(layout);
    const Layout output_layout = output_layout_.empty() ? layout : output_layout_;
    const Permutation permutation(layout, output_layout);
    Window window = crop_.window(sample, image.shape, axes);
    apply_policy(window, image.shape, policy_);
    const bool mirror = mirror_.at_or(sample, 0) != 0;

    NormalizeRow row{};
    row.input_type = image.type;
    row.channels = axes.channel < 0 ? 1 : image.shape[axes.channel];
    row.output_channels = pad_output_ ? padded_channels(row.channels) : row.channels;
    auto* const rules =
        sample.scratch<ChannelNormalization>(0, static_cast<size_t>(row.output_channels));
    normalize_.channels(sample, row.channels, row.output_channels, rules);
    row.rules = rules;
    if (changes_nothing(image, layout, output_layout, window, mirror, row)) {
      sample.forward(0, image).layout = layout;
      return;
    }
    const float* const fill = fill_of_channel(sample, row);
    for (int64_t c = row.channels; c < row.output_channels; ++c)
      rules[c] = constant_channel(value_after_fill(fill[c]));

    Shape shape;
    for (int i = 0; i < image.shape.ndim; ++i) {
      const int axis = permutation.input_axis[i];
      shape.push_back(axis == axes.channel ? row.output_channels : window.extent[axis]);
    }
    Tensor& output = sample.output(0, type_, shape, output_layout);
    if (output.num_elements() == 0) return;
    const int output_channel_axis = output_layout.find('C');
    row.input_channel_stride = axes.channel < 0 ? 0 : dense_strides(image.shape)[axes.channel];
    row.output_channel_stride =
        output_channel_axis < 0 ? 0 : dense_strides(shape)[output_channel_axis];
    const RowWalk walk(image, window, permutation, axes, mirror, row, fill, output);
    prepare(sample, walk.max_pixels(), row);
    walk.run();
  }

 private:
  bool changes_nothing(const Tensor& image, const Layout& layout, const Layout& output_layout,
                       const Window& window, bool mirror, const NormalizeRow& row) const {
    if (image.type != type_ || layout != output_layout || mirror ||
        row.channels != row.output_channels || !window.is_whole(image.shape))
      return false;
    for (int64_t c = 0; c < row.channels; ++c)
      if (row.rules[c].mean != 0 || row.rules[c].multiplier != 1) return false;
    // Wider integers pass through float, which does not hold all of them.
    return size_of(type_) <= 2 || type_ == DataType::kFloat;
  }

  const float* fill_of_channel(SampleContext& sample, const NormalizeRow& row) const {
    auto* const fill = sample.scratch<float>(3, static_cast<size_t>(row.output_channels));
    std::fill(fill, fill + row.output_channels, 0.0f);
    if (policy_ != OutOfBounds::kPad) return fill;
    const int64_t count = static_cast<int64_t>(fill_values_.size());
    if (count != 1 && count != row.channels && count != row.output_channels)
      throw std::invalid_argument("fill_values must be one number or one for each of the " +
                                  std::to_string(row.channels) + " channels (got " +
                                  std::to_string(count) +
                                  " numbers). Pass as many as there are channels.");
    for (int64_t c = 0; c < row.output_channels; ++c)
      if (count == 1 || c < count) fill[c] = fill_values_[count == 1 ? 0 : c];
    return fill;
  }

  // The number that converts to the output's type as the fill value does.
  float value_after_fill(float value) const {
    return visit_type(type_,
                      [&](auto zero) { return convert<float>(fill_value<decltype(zero)>(value)); });
  }

  static void prepare(SampleContext& sample, int64_t pixels, NormalizeRow& row) {
    const bool dense = row.output_pixel_stride == row.output_channels;
    row.order = row.output_pixel_stride == 1              ? ChannelOrder::kPlanes
                : row.output_channel_stride == 1 && dense ? ChannelOrder::kPixels
                                                          : ChannelOrder::kScattered;
    row.row_buffer = sample.scratch<float>(1, static_cast<size_t>(pixels * row.output_channels));
    if (row.order != ChannelOrder::kPixels) return;
    row.pattern_length = row.output_channels * kPixelsInPattern;
    float* const pattern = sample.scratch<float>(2, static_cast<size_t>(3 * row.pattern_length));
    row.pattern_means = pattern;
    row.pattern_multipliers = pattern + row.pattern_length;
    row.pattern_buffer = pattern + 2 * row.pattern_length;
    for (int64_t i = 0; i < row.pattern_length; ++i) {
      const ChannelNormalization& rule = row.rules[i % row.output_channels];
      pattern[i] = rule.mean;
      pattern[i + row.pattern_length] = rule.multiplier;
    }
  }

  CropArguments crop_;
  NormalizeArguments normalize_;
  Argument<int> mirror_;
  OutOfBounds policy_;
  std::vector<float> fill_values_;
  bool pad_output_;
  Layout output_layout_;
  DataType type_;
};

DALI_CORE_REGISTER_OPERATOR("crop_mirror_normalize", CropMirrorNormalize)

}  // namespace dali_core
