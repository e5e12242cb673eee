#include "dali_core/kernels/random/gaussian_noise.hpp"

#include "dali_core/kernels/convert/convert_elements.hpp"
#include "dali_core/kernels/random/noise_type.hpp"
#include "dali_core/operator.hpp"
#include "dali_core/simd.hpp"

namespace dali_core {

// Counters and key of a sample's random numbers (see RandomStream).
struct DrawKey {
  uint32_t counter[4];
  uint32_t key0, key1;

  DrawKey(uint64_t seed, SampleKey sample)
      : counter{0, static_cast<uint32_t>(sample.epoch), static_cast<uint32_t>(sample.sample),
                static_cast<uint32_t>(sample.sample >> 32)},
        key0(static_cast<uint32_t>(seed)),
        key1(static_cast<uint32_t>(seed >> 32)) {}
};

}  // namespace dali_core

#define DC_SIMD_SOURCE "dali_core/kernels/random/gaussian_noise.inc.hpp"
#include "dali_core/simd_each_level.hpp"

namespace dali_core {

class GaussianNoise : public Operator {
 public:
  explicit GaussianNoise(const OperatorConfig& config)
      : mean_(config, "mean"), stddev_(config, "stddev"), seed_(config.seed) {}

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    visit_numeric_type(input.type, [](auto) {});
    Tensor& output = sample.output(0, input.type, input.shape, input.layout);
    DC_SIMD_DISPATCH(add_noise_of_type, input.data, output.data, input.type, input.num_elements(),
                     mean_.at(sample), stddev_.at(sample), DrawKey(seed_, sample.key()));
  }

 private:
  Argument<float> mean_, stddev_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_OPERATOR("noise.gaussian", GaussianNoise)

}  // namespace dali_core
