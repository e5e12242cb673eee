#include "dali_core/operators/crop_mirror_normalize/crop_mirror_normalize.hpp"

#include <memory>
#include <optional>

#include "dali_core/geometry.hpp"
#include "dali_core/image_chain.hpp"
#include "dali_core/operator.hpp"
#include "dali_core/operators/crop_mirror_normalize/crop_mirror_normalize_arguments.hpp"
#include "dali_core/operators/crop_mirror_normalize/normalize_row.hpp"
#include "dali_core/operators/crop_mirror_normalize/row_walk.hpp"

namespace dali_core {

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

  bool reshape(SampleContext& sample, ImageGeometry& image) const override {
    const Shape shape{image.height(), image.width(), 1};
    const Window window = arguments_.wanted_window(sample, shape, image_axes("HWC"));
    if (!image.crop(window.start[0], window.start[1], window.extent[0], window.extent[1]))
      return false;
    image.mirror(arguments_.mirror(sample), false);
    return true;
  }

  std::unique_ptr<RowSink> finish(SampleContext& sample, DataType type,
                                  const Shape& shape) const override {
    Tensor image;
    image.type = type;
    image.shape = shape;
    auto sink = std::make_unique<Sink>(image, arguments_.output_layout("HWC"));
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
