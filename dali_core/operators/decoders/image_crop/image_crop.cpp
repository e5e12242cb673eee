#include "dali_core/kernels/window/crop_window.hpp"
#include "dali_core/native_io/image_decoding/decode_operator.hpp"

namespace dali_core {

class DecodeCrop : public DecodeOperator {
 public:
  explicit DecodeCrop(const OperatorConfig& config) : DecodeOperator(config), crop_(config) {}

 protected:
  CropWindow choose_part(SampleContext& sample, int64_t height, int64_t width) const override {
    ImageAxes axes;
    axes.height = 0;
    axes.width = 1;
    const Window window = crop_.window(sample, Shape{height, width}, axes);
    return CropWindow{window.start[0], window.start[1], window.extent[0], window.extent[1]};
  }

 private:
  CropArguments crop_;
};

DALI_CORE_REGISTER_OPERATOR("decoders.image_crop", DecodeCrop)

}  // namespace dali_core
