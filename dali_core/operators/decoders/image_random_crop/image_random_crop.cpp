#include "dali_core/operators/decoders/image_decoder.hpp"
#include "dali_core/operators/decoders/sample_sink.hpp"
#include "dali_core/random_crop.hpp"

namespace dali_core {

class DecodeRandomCrop : public Operator {
 public:
  explicit DecodeRandomCrop(const OperatorConfig& config)
      : request_(make_image_request(config)),
        backends_(config),
        window_(config),
        seed_(config.seed) {}

  void run(SampleContext& sample) const override {
    Sink sink(*this, sample);
    decode_image(encoded_input(sample.input(0)), request_, backends_, sink);
  }

 private:
  class Sink : public SampleSink {
   public:
    Sink(const DecodeRandomCrop& op, SampleContext& sample)
        : SampleSink(sample, op.request_.dtype), op_(op), random_(sample.random(op.seed_)) {}

    CropWindow choose_region(int64_t height, int64_t width) override {
      return random_crop_window(height, width, op_.window_, random_);
    }

   private:
    const DecodeRandomCrop& op_;
    RandomStream random_;
  };

  ImageRequest request_;
  DecoderBackends backends_;
  RandomCropParameters window_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_OPERATOR("decoders.image_random_crop", DecodeRandomCrop)

}  // namespace dali_core
