// The arguments of fn.crop_mirror_normalize, and what they mean for an image.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/convert_elements.hpp"
#include "dali_core/crop_window.hpp"
#include "dali_core/fill_elements.hpp"
#include "dali_core/finished_channel.hpp"
#include "dali_core/geometry.hpp"
#include "dali_core/operator.hpp"
#include "dali_core/operators/crop_mirror_normalize/crop_mirror_normalize.hpp"
#include "dali_core/operators/crop_mirror_normalize/normalize_arguments.hpp"

namespace dali_core {

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

class CropMirrorNormalizeArguments {
 public:
  explicit CropMirrorNormalizeArguments(const OperatorConfig& config)
      : type(config.get_or<DataType>("output_dtype",
                                     config.get_or<DataType>("dtype", DataType::kFloat))),
        crop_(config),
        normalize_(config),
        mirror_(config, "mirror"),
        policy_(out_of_bounds_policy(config, false)),
        fill_values_(config.get_or<std::vector<float>>("fill_values", {0.0f})),
        pad_output_(config.get_or<bool>("pad_output", false)),
        output_layout_(config.get_or<std::string>("output_layout", "CHW")) {
    if (fill_values_.empty()) fill_values_ = {0.0f};
  }

  const DataType type;  // of the output

  // The window as it was asked for; it may reach outside.
  Window wanted_window(const SampleContext& sample, const Shape& shape,
                       const ImageAxes& axes) const {
    return crop_.window(sample, shape, axes);
  }
  Window window(const SampleContext& sample, const Shape& shape, const ImageAxes& axes) const {
    Window window = wanted_window(sample, shape, axes);
    apply_policy(window, shape, policy_);
    return window;
  }

  bool mirror(const SampleContext& sample) const { return mirror_.at_or(sample, 0) != 0; }

  Layout output_layout(const Layout& layout) const {
    return output_layout_.empty() ? layout : output_layout_;
  }

  int64_t output_channels(int64_t channels) const {
    return pad_output_ ? padded_channels(channels) : channels;
  }

  Shape output_shape(const Window& window, const Permutation& permutation, const ImageAxes& axes,
                     int64_t output_channels) const {
    Shape shape;
    for (int i = 0; i < window.extent.ndim; ++i) {
      const int axis = permutation.input_axis[i];
      shape.push_back(axis == axes.channel ? output_channels : window.extent[axis]);
    }
    return shape;
  }

  // Sets what happens to each channel of the image.
  void rules(const SampleContext& sample, int64_t channels, ChannelNormalization* rules) const {
    normalize_.channels(sample, channels, output_channels(channels), rules);
  }

  bool changes_nothing(const Tensor& image, const Layout& layout, const Window& window, bool mirror,
                       int64_t channels, const ChannelNormalization* rules) const {
    if (image.type != type || layout != output_layout(layout) || mirror ||
        channels != output_channels(channels) || !window.is_whole(image.shape))
      return false;
    for (int64_t c = 0; c < channels; ++c)
      if (rules[c].mean != 0 || rules[c].multiplier != 1) return false;
    // Wider integers pass through float, which does not hold all of them.
    return size_of(type) <= 2 || type == DataType::kFloat;
  }

  // Sets a value for each channel of the output.
  void fill_of_channel(int64_t channels, float* fill) const {
    const int64_t outputs = output_channels(channels);
    std::fill(fill, fill + outputs, 0.0f);
    if (policy_ != OutOfBounds::kPad) return;
    const int64_t count = static_cast<int64_t>(fill_values_.size());
    if (count != 1 && count != channels && count != outputs)
      throw std::invalid_argument("fill_values must be one number or one for each of the " +
                                  std::to_string(channels) + " channels (got " +
                                  std::to_string(count) +
                                  " numbers). Pass as many as there are channels.");
    for (int64_t c = 0; c < outputs; ++c)
      if (count == 1 || c < count) fill[c] = fill_values_[count == 1 ? 0 : c];
  }

  // The number that converts to the output's type as the fill value does.
  float value_after_fill(float value) const {
    const uint64_t bits = fill_bits(type, value);
    float result;
    convert_to_floats(&bits, type, &result, 1);
    return result;
  }

  // The same for a device, with the output's shape and layout.
  std::vector<FinishedChannel> finished_channels(const SampleContext& sample, int64_t channels,
                                                 const Shape& shape, const Layout& layout) const {
    const Strides strides = dense_strides(shape);
    const int channel_axis = layout.find('C');
    const int64_t pixel_stride = strides[layout.find('W')];
    // Channels that are added to pixels in one piece are converted as all others.
    const bool pixels_in_one_piece = channel_axis >= 0 && strides[channel_axis] == 1 &&
                                     pixel_stride == shape[channel_axis] && pixel_stride != 1;
    const size_t outputs = static_cast<size_t>(output_channels(channels));
    std::vector<ChannelNormalization> channel_rules(outputs);
    std::vector<float> fill(outputs);
    rules(sample, channels, channel_rules.data());
    fill_of_channel(channels, fill.data());
    std::vector<FinishedChannel> finished(outputs);
    for (size_t c = 0; c < outputs; ++c) {
      const float value = value_after_fill(fill[c]);
      finished[c].outside = fill_bits(type, fill[c]);
      finished[c].added = finished[c].outside;
      if (pixels_in_one_piece) convert_from_floats(&value, &finished[c].added, type, 1);
      finished[c].mean = channel_rules[c].mean;
      finished[c].multiplier = channel_rules[c].multiplier;
    }
    return finished;
  }

 private:
  CropArguments crop_;
  NormalizeArguments normalize_;
  Argument<int> mirror_;
  OutOfBounds policy_;
  std::vector<float> fill_values_;
  bool pad_output_;
  Layout output_layout_;
};

}  // namespace dali_core
