#include "dali_core/native_io/image_decoding/decode_operator.hpp"

namespace dali_core {

class DecodeImage : public DecodeOperator {
 public:
  using DecodeOperator::DecodeOperator;

  // The whole image may be shrunk while it is decoded.
  void produce(SampleContext& sample, ImageSink& sink) const override { decode(sample, sink); }

 protected:
  CropWindow choose_part(SampleContext&, int64_t height, int64_t width) const override {
    return CropWindow{0, 0, height, width};
  }
};

DALI_CORE_REGISTER_OPERATOR("decoders.image", DecodeImage)

}  // namespace dali_core
