// fn.readers.video_resize: a clip as fn.readers.video makes it, resized by the operator of
// fn.resize.
#include <cstdint>
#include <memory>
#include <utility>

#include "dali_core/kernels/video/float_clip.hpp"
#include "dali_core/native_io/video/clip_reader.hpp"

namespace dali_core {
namespace {

// Makes a clip in temporary memory.
class TemporaryClip : public ClipSink {
 public:
  explicit TemporaryClip(SampleContext& sample) : sample_(sample) {}

  void begin(int64_t num_frames, int64_t height, int64_t width, int channels) override {
    clip_.begin(num_frames, height, width, channels);
    tensor_.type = DataType::kUInt8;
    tensor_.shape = Shape{num_frames, height, width, int64_t{channels}};
    tensor_.layout = "FHWC";
    check_size(tensor_.shape, tensor_.type);
    tensor_.data = sample_.scratch<uint8_t>(kSlot, static_cast<size_t>(tensor_.num_elements()));
  }

  void take(int64_t place, const ClipFrame& frame) override {
    clip_.check(place, frame);
    const int64_t stride = clip_.width() * clip_.channels();
    frame.read({0, 0, clip_.height(), clip_.width()},
               tensor_.as<uint8_t>() + place * clip_.height() * stride, stride);
  }

  const Tensor& tensor() const { return tensor_; }

 private:
  static constexpr size_t kSlot = 12;  // beyond those of the operator that resizes

  SampleContext& sample_;
  CheckedClip clip_;
  Tensor tensor_;
};

// The operator of fn.resize, with those arguments that are its own.
std::unique_ptr<Operator> make_resize(OperatorConfig config) {
  config.name = "resize";
  config.num_inputs = 1;
  config.num_outputs = 1;
  config.values.erase("image_type");
  return operator_registry().at("resize").make(config);
}

// In a chain, the source of clips and what resizes them; by itself, one after the other.
class VideoResizeReader : public Operator, public ClipSource, public ResampleStep {
 public:
  explicit VideoResizeReader(const OperatorConfig& config)
      : reader_(config),
        resize_(make_resize(config)),
        step_(dynamic_cast<const ResampleStep&>(*resize_)) {}

  void run(SampleContext& sample) const override { run_scaled(sample, 1.0f); }

  void produce_clip(SampleContext& sample, ClipSink& sink) const override {
    reader_.produce_clip(sample, sink);
  }

  bool reshape(SampleContext& sample, ImageGeometry& image) const override {
    return step_.reshape(sample, image);
  }

  bool is_same_for_frames(const SampleContext& sample, int64_t frames) const override {
    return step_.is_same_for_frames(sample, frames);
  }

  void run_scaled(SampleContext& sample, float scale) const {
    TemporaryClip clip(sample);
    reader_.produce_clip(sample, clip);
    Tensor resized;
    const OutputSlot anywhere;
    SampleContext context = sample.on(clip.tensor(), resized, anywhere);
    resize_->run(context);
    if (scale != 1.0f) {
      auto* const values = resized.as<float>();
      const int64_t count = resized.num_elements();
      for (int64_t i = 0; i < count; ++i) values[i] *= scale;
    }
    sample.forward(0, resized);
  }

 private:
  ClipReader reader_;
  std::unique_ptr<Operator> resize_;
  const ResampleStep& step_;
};

// Its values change once more behind the resizing, which a source in a chain cannot do.
class NormalizedVideoResizeReader : public Operator {
 public:
  explicit NormalizedVideoResizeReader(const OperatorConfig& config)
      : reader_(config), scale_(float_scale(config)) {}

  void run(SampleContext& sample) const override { reader_.run_scaled(sample, scale_); }

 private:
  VideoResizeReader reader_;
  float scale_;
};

}  // namespace

DALI_CORE_REGISTER_OPERATOR("readers.video_resize", VideoResizeReader)
DALI_CORE_REGISTER_OPERATOR("readers.video_resize.normalized", NormalizedVideoResizeReader)

}  // namespace dali_core
