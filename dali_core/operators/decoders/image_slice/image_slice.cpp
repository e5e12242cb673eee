#include "dali_core/kernels/window/slice_window.hpp"
#include "dali_core/native_io/image_decoding/decode_operator.hpp"

namespace dali_core {

class DecodeSlice : public DecodeOperator {
 public:
  explicit DecodeSlice(const OperatorConfig& config) : DecodeOperator(config), slice_(config) {}

 protected:
  CropWindow choose_part(SampleContext& sample, int64_t height, int64_t width) const override {
    const Window window = slice_.window(sample, {height, width}, "HW");
    return CropWindow{window.start[0], window.start[1], window.extent[0], window.extent[1]};
  }

 private:
  SliceArguments slice_;
};

DALI_CORE_REGISTER_OPERATOR("decoders.image_slice", DecodeSlice)

}  // namespace dali_core
