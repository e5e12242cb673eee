#include "dali_core/kernels/window/random_crop.hpp"
#include "dali_core/native_io/image_decoding/decode_operator.hpp"

namespace dali_core {

class DecodeRandomCrop : public DecodeOperator {
 public:
  explicit DecodeRandomCrop(const OperatorConfig& config)
      : DecodeOperator(config), window_(config), seed_(config.seed) {}

 protected:
  CropWindow choose_part(SampleContext& sample, int64_t height, int64_t width) const override {
    RandomStream random = sample.random(seed_);
    return random_crop_window(height, width, window_, random);
  }

 private:
  RandomCropParameters window_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_OPERATOR("decoders.image_random_crop", DecodeRandomCrop)

}  // namespace dali_core
