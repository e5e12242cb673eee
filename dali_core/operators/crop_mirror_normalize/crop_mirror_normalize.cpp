#include "dali_core/kernels/normalize/crop_mirror_normalize.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/geometry.hpp"
#include "dali_core/kernels/convert/convert_elements.hpp"
#include "dali_core/kernels/fill/fill_elements.hpp"
#include "dali_core/kernels/image_chain/image_chain.hpp"
#include "dali_core/kernels/normalize/finished_channel.hpp"
#include "dali_core/kernels/normalize/normalize_arguments.hpp"
#include "dali_core/kernels/normalize/normalize_device.hpp"
#include "dali_core/kernels/normalize/normalize_row.hpp"
#include "dali_core/kernels/normalize/row_walk.hpp"
#include "dali_core/kernels/window/crop_window.hpp"

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

class CropMirrorNormalizeArguments {
 public:
  explicit CropMirrorNormalizeArguments(const OperatorConfig& config)
      : type(config.get_or<DataType>("output_dtype",
                                     config.get_or<DataType>("dtype", DataType::kFloat))),
        crop_(config),
        normalize_(config),
        mirror_(config, "mirror"),
        policy_(out_of_bounds_policy(config, false)),
        fill_values_(config.get<std::vector<float>>("fill_values")),
        pad_output_(config.get<bool>("pad_output")),
        output_layout_(config.get<std::string>("output_layout")) {
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

  bool mirror(const SampleContext& sample) const { return mirror_.at(sample) != 0; }

  Layout output_layout(const Layout& layout) const {
    return output_layout_.empty() ? layout : output_layout_;
  }

  // Of one frame of a clip of layout FHWC; empty if frames do not come first.
  Layout frame_layout() const {
    if (output_layout_.empty()) return "HWC";
    return output_layout_[0] == 'F' ? Layout(output_layout_.c_str() + 1) : Layout();
  }
  bool keeps_frames(const SampleContext& sample, int64_t frames) const {
    return crop_.keeps_frames(sample, frames);
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

}  // namespace

class CropMirrorNormalize : public Operator, public FinishStep {
 public:
  explicit CropMirrorNormalize(const OperatorConfig& config) : arguments_(config) {}

  void run(SampleContext& sample) const override {
    const Tensor& image = sample.input(0);
    const Layout layout = image_layout(image, "DHWC");
    const ImageAxes axes = image_axes(layout);
    const Window window = arguments_.window(sample, image.shape, axes);
    const bool mirror = arguments_.mirror(sample);
    Work work(image, layout, arguments_.output_layout(layout));
    set_channels(sample, work);
    if (arguments_.changes_nothing(image, layout, window, mirror, work.row.channels, work.rules)) {
      sample.forward(0, image).layout = layout;
      return;
    }
    start(sample, window, mirror, work);
    if (work.walk) work.walk->run();
  }

  void plan(DeviceBatch& batch) const override {
    std::vector<PlannedNormalization> planned;
    batch.for_each([&](int, SampleContext& sample) { planned.push_back(plan_sample(sample)); });
    normalize_on_device(batch, planned);
  }

  bool reshape(SampleContext& sample, ImageGeometry& image) const override {
    const Shape shape{image.height(), image.width(), 1};
    const Window window = arguments_.wanted_window(sample, shape, image_axes("HWC"));
    if (!image.crop(window.start[0], window.start[1], window.extent[0], window.extent[1]))
      return false;
    image.mirror(arguments_.mirror(sample), false);
    return true;
  }

  bool is_same_for_frames(const SampleContext& sample, int64_t frames) const override {
    return arguments_.keeps_frames(sample, frames) && arguments_.frame_layout().ndim() == 3;
  }

  std::unique_ptr<RowSink> finish(SampleContext& sample, DataType type, const Shape& shape,
                                  bool is_frame) const override {
    Tensor image;
    image.type = type;
    image.shape = shape;
    const Layout layout = is_frame ? arguments_.frame_layout() : arguments_.output_layout("HWC");
    auto sink = std::make_unique<Sink>(image, layout);
    set_channels(sample, sink->work);
    start(sample, Window(shape), /*mirror=*/false, sink->work);
    return sink;
  }

  FinishedImage describe(SampleContext& sample, DataType, const Shape& shape) const override {
    FinishedImage finished;
    finished.type = arguments_.type;
    finished.layout = arguments_.output_layout("HWC");
    const ImageAxes axes = image_axes("HWC");
    const int64_t channels = shape[axes.channel];
    finished.shape = arguments_.output_shape(Window(shape), Permutation("HWC", finished.layout),
                                             axes, arguments_.output_channels(channels));
    finished.channels =
        arguments_.finished_channels(sample, channels, finished.shape, finished.layout);
    return finished;
  }

 private:
  PlannedNormalization plan_sample(SampleContext& sample) const {
    const Tensor& image = sample.input(0);
    const Layout layout = image_layout(image, "DHWC");
    const ImageAxes axes = image_axes(layout);
    PlannedNormalization planned{arguments_.window(sample, image.shape, axes), axes};
    const bool mirror = arguments_.mirror(sample);
    planned.mirror_columns = mirror;
    planned.layout = arguments_.output_layout(layout);
    const Permutation permutation(layout, planned.layout);
    const int64_t channels = axes.channel < 0 ? 1 : image.shape[axes.channel];
    std::vector<ChannelNormalization> rules(static_cast<size_t>(channels));
    arguments_.rules(sample, channels, rules.data());
    planned.is_forwarded =
        arguments_.changes_nothing(image, layout, planned.window, mirror, channels, rules.data());
    if (planned.is_forwarded) {
      planned.layout = layout;
      return planned;
    }
    planned.type = arguments_.type;
    std::copy_n(permutation.input_axis, layout.ndim(), planned.input_axis);
    planned.shape = arguments_.output_shape(planned.window, permutation, axes,
                                            arguments_.output_channels(channels));
    planned.channels =
        arguments_.finished_channels(sample, channels, planned.shape, planned.layout);
    return planned;
  }

  // What is known about making one output.
  struct Work {
    const Tensor& image;
    Layout layout;
    Layout output_layout;
    ImageAxes axes;
    Permutation permutation;
    NormalizeRow row{};
    ChannelNormalization* rules = nullptr;
    std::optional<RowWalk> walk;  // none if the output is empty

    Work(const Tensor& image, const Layout& layout, const Layout& output_layout)
        : image(image),
          layout(layout),
          output_layout(output_layout),
          axes(image_axes(layout)),
          permutation(layout, output_layout) {}
  };

  struct Sink : RowSink {
    Tensor image;
    Work work;

    Sink(const Tensor& image, const Layout& output_layout)
        : image(image), work(this->image, "HWC", output_layout) {}

    void write(const void* rows, int64_t stride, int64_t first, int64_t count) override {
      for (int64_t i = 0; i < count; ++i)
        work.walk->run_row(static_cast<const char*>(rows) + i * stride, first + i);
    }
  };

  // Sets what happens to each channel.
  void set_channels(SampleContext& sample, Work& work) const {
    NormalizeRow& row = work.row;
    row.input_type = work.image.type;
    row.channels = work.axes.channel < 0 ? 1 : work.image.shape[work.axes.channel];
    row.output_channels = arguments_.output_channels(row.channels);
    work.rules = sample.scratch<ChannelNormalization>(0, static_cast<size_t>(row.output_channels));
    arguments_.rules(sample, row.channels, work.rules);
    row.rules = work.rules;
  }

  // Declares the output.
  void start(SampleContext& sample, const Window& window, bool mirror, Work& work) const {
    NormalizeRow& row = work.row;
    const ImageAxes& axes = work.axes;
    auto* const fill = sample.scratch<float>(3, static_cast<size_t>(row.output_channels));
    arguments_.fill_of_channel(row.channels, fill);
    for (int64_t c = row.channels; c < row.output_channels; ++c)
      work.rules[c] = constant_channel(arguments_.value_after_fill(fill[c]));
    const Shape shape =
        arguments_.output_shape(window, work.permutation, axes, row.output_channels);
    Tensor& output = sample.output(0, arguments_.type, shape, work.output_layout);
    if (output.num_elements() == 0) return;
    const int output_channel_axis = work.output_layout.find('C');
    row.input_channel_stride = axes.channel < 0 ? 0 : dense_strides(work.image.shape)[axes.channel];
    row.output_channel_stride =
        output_channel_axis < 0 ? 0 : dense_strides(shape)[output_channel_axis];
    work.walk.emplace(work.image, window, work.permutation.input_axis, axes, mirror, row, fill,
                      output);
    prepare(sample, work.walk->max_pixels(), row);
  }

  static void prepare(SampleContext& sample, int64_t pixels, NormalizeRow& row) {
    const bool dense = row.output_pixel_stride == row.output_channels;
    row.order = row.output_pixel_stride == 1              ? ChannelOrder::kPlanes
                : row.output_channel_stride == 1 && dense ? ChannelOrder::kPixels
                                                          : ChannelOrder::kScattered;
    const auto size = static_cast<size_t>(pixels * row.output_channels);
    row.row_buffer = sample.scratch<float>(1, size);
    if (row.input_type != DataType::kUInt8 && row.input_type != DataType::kFloat)
      row.stored_buffer = sample.scratch<uint64_t>(4, size);
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

  CropMirrorNormalizeArguments arguments_;
};

DALI_CORE_REGISTER_OPERATOR("crop_mirror_normalize", CropMirrorNormalize)

}  // namespace dali_core
