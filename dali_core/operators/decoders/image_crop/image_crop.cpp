#include "dali_core/crop_window.hpp"
#include "dali_core/operators/decoders/image_decoder.hpp"
#include "dali_core/operators/decoders/sample_sink.hpp"

namespace dali_core {

class DecodeCrop : public Operator {
 public:
  explicit DecodeCrop(const OperatorConfig& config)
      : request_(make_image_request(config)), backends_(config), crop_(config) {}

  void run(SampleContext& sample) const override {
    Sink sink(*this, sample);
    decode_image(encoded_input(sample.input(0)), request_, backends_, sink);
  }

 private:
  class Sink : public SampleSink {
   public:
    Sink(const DecodeCrop& op, SampleContext& sample)
        : SampleSink(sample, op.request_.dtype), op_(op), sample_(sample) {}

    CropWindow choose_region(int64_t height, int64_t width) override {
      ImageAxes axes;
      axes.height = 0;
      axes.width = 1;
      const Window window = op_.crop_.window(sample_, Shape{height, width}, axes);
      return CropWindow{window.start[0], window.start[1], window.extent[0], window.extent[1]};
    }

   private:
    const DecodeCrop& op_;
    const SampleContext& sample_;
  };

  ImageRequest request_;
  DecoderBackends backends_;
  CropArguments crop_;
};

DALI_CORE_REGISTER_OPERATOR("decoders.image_crop", DecodeCrop)

}  // namespace dali_core
