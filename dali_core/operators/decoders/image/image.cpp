#include "dali_core/operators/decoders/image_decoder.hpp"
#include "dali_core/operators/decoders/sample_sink.hpp"

namespace dali_core {

class DecodeImage : public Operator {
 public:
  explicit DecodeImage(const OperatorConfig& config)
      : request_(make_image_request(config)), backends_(config) {}

  void run(SampleContext& sample) const override {
    SampleSink sink(sample, request_.dtype);
    decode_image(encoded_input(sample.input(0)), request_, backends_, sink);
  }

 private:
  ImageRequest request_;
  DecoderBackends backends_;
};

DALI_CORE_REGISTER_OPERATOR("decoders.image", DecodeImage)

}  // namespace dali_core
