#include "dali_core/operators/decoders/image_decoder.hpp"
#include "dali_core/operators/decoders/image_slice/slice_window.hpp"
#include "dali_core/operators/decoders/sample_sink.hpp"

namespace dali_core {

class DecodeSlice : public Operator {
 public:
  explicit DecodeSlice(const OperatorConfig& config)
      : request_(make_image_request(config)), backends_(config), slice_(config) {}

  void run(SampleContext& sample) const override {
    Sink sink(*this, sample);
    decode_image(encoded_input(sample.input(0)), request_, backends_, sink);
  }

 private:
  class Sink : public SampleSink {
   public:
    Sink(const DecodeSlice& op, SampleContext& sample)
        : SampleSink(sample, op.request_.dtype), op_(op), sample_(sample) {}

    CropWindow choose_region(int64_t height, int64_t width) override {
      return op_.slice_.window(sample_, height, width);
    }

   private:
    const DecodeSlice& op_;
    const SampleContext& sample_;
  };

  ImageRequest request_;
  DecoderBackends backends_;
  SliceArguments slice_;
};

DALI_CORE_REGISTER_OPERATOR("decoders.image_slice", DecodeSlice)

}  // namespace dali_core
