// Checks files on their way to a decoder on a device.
#include "dali_core/kernels/jpeg/jpeg_cost.hpp"
#include "dali_core/kernels/jpeg/jpeg_header.hpp"
#include "dali_core/native_io/image_decoding/sample_sink.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

class CheckCost : public Operator {
 public:
  explicit CheckCost(const OperatorConfig&) {}

  void run(SampleContext& sample) const override {
    const EncodedImage encoded = encoded_input(sample.input(0));
    if (looks_like_jpeg(encoded)) check_jpeg_cost(encoded);
    sample.forward(0, sample.input(0));
  }
};

DALI_CORE_REGISTER_OPERATOR("decoders.check_cost", CheckCost)

}  // namespace dali_core
