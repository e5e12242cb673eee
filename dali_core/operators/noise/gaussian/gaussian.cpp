#include "dali_core/kernels/random/gaussian_noise.hpp"

#include "dali_core/kernels/convert/convert_elements.hpp"
#include "dali_core/kernels/random/noise_tasks.hpp"
#include "dali_core/kernels/random/noise_type.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"
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

class GaussianNoise : public KernelOperator<GaussianNoise, GaussianNoiseTask> {
 public:
  static constexpr auto kKernel = "add_gaussian_noise";

  explicit GaussianNoise(const OperatorConfig& config)
      : mean_(config, "mean"), stddev_(config, "stddev"), seed_(config.seed) {}

  static Inferred infer(const SampleContext& sample) {
    const Tensor& input = sample.input(0);
    visit_numeric_type(input.type, [](auto) {});
    return {input.type, input.shape, input.layout};
  }

  GaussianNoiseTask task(const Inferred&, TaskData& data) const {
    const Tensor input = data.input();
    const SampleContext& sample = data.sample();
    return {input.data, data.output().data, input.num_elements(),
            input.type, mean_.at(sample),   stddev_.at(sample),
            seed_,      sample.key()};
  }

  static int64_t threads_for(const GaussianNoiseTask& task) {
    return std::min<int64_t>(task.count, task.count / 4 + kDraws);
  }

  static void compute(const GaussianNoiseTask& task) {
    DC_SIMD_DISPATCH(add_noise_of_type, task.in, task.out, task.type, task.count, task.mean,
                     task.stddev, DrawKey(task.seed, task.key));
  }

 private:
  Argument<float> mean_, stddev_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_OPERATOR("noise.gaussian", GaussianNoise)

}  // namespace dali_core
