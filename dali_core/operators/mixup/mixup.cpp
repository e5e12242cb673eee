// fn.mixup: weighted means of pairs of images and of their labels.
#include "dali_core/kernels/batch_mixing/batch_mixing.hpp"

namespace dali_core {

// Vectorises.
template <typename T>
void mix_elements(const T* image, const T* other, float weight, int64_t count, T* out) {
  for (int64_t i = 0; i < count; ++i)
    out[i] =
        convert<T>(weight * convert<float>(image[i]) + (1.0f - weight) * convert<float>(other[i]));
}

class Mixup : public Operator {
 public:
  explicit Mixup(const OperatorConfig& config) : mixing_(config) {}

  bool reads_batch() const override { return true; }

  void run(SampleContext& sample) const override {
    const int partner = mixing_.partner(sample);
    const Tensor& image = sample.input(0);
    const Tensor& other = BatchMixing::image_of(sample, partner);
    RandomStream random = mixing_.random(sample);
    const auto weight = static_cast<float>(mixing_.weight(random));
    mixing_.mix_labels(sample, partner, weight);
    Tensor& output = sample.output(0, image.type, image.shape, image.layout);
    const int64_t count = image.num_elements();
    if (image.type == DataType::kUInt8)
      mix_elements(image.as<uint8_t>(), other.as<uint8_t>(), weight, count, output.as<uint8_t>());
    else if (image.type == DataType::kFloat16)
      mix_elements(image.as<Half>(), other.as<Half>(), weight, count, output.as<Half>());
    else if (image.type == DataType::kFloat)
      mix_elements(image.as<float>(), other.as<float>(), weight, count, output.as<float>());
    else
      throw std::invalid_argument("images must be UINT8, FLOAT16 or FLOAT (got " +
                                  std::string(name_of(image.type)) + "). Cast them before.");
  }

 private:
  BatchMixing mixing_;
};

DALI_CORE_REGISTER_OPERATOR("mixup", Mixup)

}  // namespace dali_core
