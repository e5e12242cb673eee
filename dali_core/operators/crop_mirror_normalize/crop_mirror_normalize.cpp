#include "dali_core/operators/crop_mirror_normalize/crop_mirror_normalize.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "dali_core/crop_window.hpp"
#include "dali_core/geometry.hpp"
#include "dali_core/image_chain.hpp"
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

class CropMirrorNormalize : public Operator, public FinishStep {
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
    if (fill_values_.empty()) fill_values_ = {0.0f};
  }

  void run(SampleContext& sample) const override {
    const Tensor& image = sample.input(0);
    const Layout layout = image_layout(image, "DHWC");
    const ImageAxes axes = image_axes(layout);
    Window window = crop_.window(sample, image.shape, axes);
    apply_policy(window, image.shape, policy_);
    const bool mirror = mirror_.at_or(sample, 0) != 0;
    Work work(image, layout, output_layout_.empty() ? layout : output_layout_);
    set_channels(sample, work);
    if (changes_nothing(work, window, mirror)) {
      sample.forward(0, image).layout = layout;
      return;
    }
    start(sample, window, mirror, work);
    if (work.walk) work.walk->run();
  }

  bool reshape(SampleContext& sample, ImageGeometry& image) const override {
    const Shape shape{image.height(), image.width(), 1};
    const Window window = crop_.window(sample, shape, image_axes("HWC"));
    if (!image.crop(window.start[0], window.start[1], window.extent[0], window.extent[1]))
      return false;
    image.mirror(mirror_.at_or(sample, 0) != 0, false);
    return true;
  }

  std::unique_ptr<RowSink> finish(SampleContext& sample, DataType type,
                                  const Shape& shape) const override {
    Tensor image;
    image.type = type;
    image.shape = shape;
    auto sink = std::make_unique<Sink>(image, output_layout_.empty() ? "HWC" : output_layout_);
    set_channels(sample, sink->work);
    start(sample, Window(shape), /*mirror=*/false, sink->work);
    return sink;
  }

 private:
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
    row.output_channels = pad_output_ ? padded_channels(row.channels) : row.channels;
    work.rules = sample.scratch<ChannelNormalization>(0, static_cast<size_t>(row.output_channels));
    normalize_.channels(sample, row.channels, row.output_channels, work.rules);
    row.rules = work.rules;
  }

  // Declares the output.
  void start(SampleContext& sample, const Window& window, bool mirror, Work& work) const {
    NormalizeRow& row = work.row;
    const ImageAxes& axes = work.axes;
    const float* const fill = fill_of_channel(sample, row);
    for (int64_t c = row.channels; c < row.output_channels; ++c)
      work.rules[c] = constant_channel(value_after_fill(fill[c]));
    Shape shape;
    for (int i = 0; i < work.image.shape.ndim; ++i) {
      const int axis = work.permutation.input_axis[i];
      shape.push_back(axis == axes.channel ? row.output_channels : window.extent[axis]);
    }
    Tensor& output = sample.output(0, type_, shape, work.output_layout);
    if (output.num_elements() == 0) return;
    const int output_channel_axis = work.output_layout.find('C');
    row.input_channel_stride = axes.channel < 0 ? 0 : dense_strides(work.image.shape)[axes.channel];
    row.output_channel_stride =
        output_channel_axis < 0 ? 0 : dense_strides(shape)[output_channel_axis];
    work.walk.emplace(work.image, window, work.permutation.input_axis, axes, mirror, row, fill,
                      output);
    prepare(sample, work.walk->max_pixels(), row);
  }

  bool changes_nothing(const Work& work, const Window& window, bool mirror) const {
    const NormalizeRow& row = work.row;
    if (work.image.type != type_ || work.layout != work.output_layout || mirror ||
        row.channels != row.output_channels || !window.is_whole(work.image.shape))
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
