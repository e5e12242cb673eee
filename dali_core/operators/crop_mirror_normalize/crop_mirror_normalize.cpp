#include "dali_core/operators/crop_mirror_normalize/crop_mirror_normalize.hpp"

#include <algorithm>

#include "dali_core/crop_window.hpp"
#include "dali_core/geometry.hpp"
#include "dali_core/operator.hpp"
#include "dali_core/operators/crop_mirror_normalize/normalize_arguments.hpp"
#include "dali_core/operators/crop_mirror_normalize/normalize_row.hpp"
#include "dali_core/operators/crop_mirror_normalize/row_walk.hpp"

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
    const RowWalk walk(image, window, permutation.input_axis, axes, mirror, row, fill, output);
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
