#include "dali_core/kernels/random/coin_flip.hpp"

#include "dali_core/element_groups.hpp"
#include "dali_core/kernels/random/output_shape.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {

class CoinFlip : public KernelOperator<CoinFlip, CoinFlipTask> {
 public:
  static constexpr auto kKernel = "flip_coins";

  explicit CoinFlip(const OperatorConfig& config)
      : probability_(config, "probability"),
        shape_(config),
        type_(config.get<DataType>("dtype")),
        seed_(config.seed) {}

  Inferred infer(const SampleContext& sample) const { return {type_, shape_.at(sample), {}}; }

  CoinFlipTask task(const Inferred&, TaskData& data) const {
    return {data.output().data,
            data.output().num_elements(),
            seed_,
            data.sample().key(),
            coin_flip_threshold(probability_.at(data.sample())),
            type_};
  }

  static int64_t threads_for(const CoinFlipTask& task) { return num_groups(task.count, 0); }

  static void compute(const CoinFlipTask& task) {
    RandomStream random(task.seed, task.key);
    visit_type(task.type, [&](auto zero) {
      using To = decltype(zero);
      To* const values = static_cast<To*>(task.out);
      for (int64_t i = 0; i < task.count; ++i)
        values[i] = convert<To>(coin_flip(random.next_uint32(), task.threshold));
    });
  }

 private:
  Argument<float> probability_;
  OutputShape shape_;
  DataType type_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_OPERATOR("random.coin_flip", CoinFlip)

}  // namespace dali_core
