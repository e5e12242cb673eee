// fn.readers.video: clips of videos, by the rules of its table, as bytes or as floats.
#include "dali_core/kernels/video/float_clip.hpp"
#include "dali_core/native_io/video/clip_reader.hpp"

namespace dali_core {
namespace {

class VideoReader : public ClipReader {
 public:
  using ClipReader::ClipReader;
};

class FloatVideoReader : public ClipReader {
 public:
  explicit FloatVideoReader(const OperatorConfig& config)
      : ClipReader(config), scale_(float_scale(config)) {}

  DataType image_type() const override { return DataType::kFloat; }

  void produce_clip(SampleContext& sample, ClipSink& sink) const override {
    FloatClip floats(sink, scale_);
    ClipReader::produce_clip(sample, floats);
  }

 private:
  float scale_;
};

}  // namespace

DALI_CORE_REGISTER_OPERATOR("readers.video", VideoReader)
DALI_CORE_REGISTER_OPERATOR("readers.video.floats", FloatVideoReader)

}  // namespace dali_core
