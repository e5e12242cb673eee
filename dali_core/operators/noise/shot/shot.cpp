#include <array>

#include "dali_core/kernels/random/noise_type.hpp"
#include "dali_core/kernels/random/shot_noise.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {
namespace {

// Elements of type T, with the probability of no event for a mean and an element.
template <typename T, typename None>
void count_events(const ShotNoiseTask& task, const None& none) {
  const T* const in = static_cast<const T*>(task.in);
  T* const out = static_cast<T*>(task.out);
  PhiloxBlock block{};
  for (int64_t i = 0; i < task.count; ++i) {
    if (i % 2 == 0) block = shot_noise_block(task.seed, task.key, i / 2);
    out[i] = with_shot_noise(in[i], task.factor, [&](double mean) {
      return poisson(mean, none(mean, in[i]), draws_of_element(block, task.seed, task.key, i));
    });
  }
}

}  // namespace

class ShotNoise : public KernelOperator<ShotNoise, ShotNoiseTask> {
 public:
  static constexpr auto kKernel = "add_shot_noise";

  explicit ShotNoise(const OperatorConfig& config)
      : factor_(config, "factor"), seed_(config.seed) {}

  Inferred infer(const SampleContext& sample) const {
    const Tensor& input = sample.input(0);
    visit_numeric_type(input.type, [](auto) {});
    return {input.type, input.shape, input.layout, factor_.at(sample) == 0 ? 0 : -1};
  }

  ShotNoiseTask task(const Inferred&, TaskData& data) const {
    const Tensor input = data.input();
    const SampleContext& sample = data.sample();
    return {input.data, data.output().data, input.num_elements(), input.type, factor_.at(sample),
            seed_,      sample.key()};
  }

  static int64_t threads_for(const ShotNoiseTask& task) { return task.count / 2 + 1; }

  static void compute(const ShotNoiseTask& task) {
    visit_numeric_type(task.type, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_same_v<T, uint8_t>) {
        // Bytes have 256 means at most.
        std::array<double, 256> table;
        for (int level = 0; level < 256; ++level)
          table[level] = probability_of_none(level / task.factor);
        count_events<T>(task, [&](double, uint8_t level) { return table[level]; });
      } else {
        count_events<T>(task, [](double mean, T) { return probability_of_none(mean); });
      }
    });
  }

 private:
  Argument<float> factor_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_OPERATOR("noise.shot", ShotNoise)

}  // namespace dali_core
