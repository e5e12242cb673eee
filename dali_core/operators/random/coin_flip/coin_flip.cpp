#include "dali_core/operators/random/coin_flip/coin_flip.hpp"

#include "dali_core/operator.hpp"
#include "dali_core/operators/random/output_shape.hpp"

namespace dali_core {

class CoinFlip : public Operator {
 public:
  explicit CoinFlip(const OperatorConfig& config)
      : probability_(config, "probability"),
        shape_(config),
        type_(config.get_or<DataType>("dtype", DataType::kInt32)),
        seed_(config.seed) {}

  void run(SampleContext& sample) const override {
    const uint64_t threshold = coin_flip_threshold(probability_.at_or(sample, 0.5f));
    Tensor& output = sample.output(0, type_, shape_.at(sample));
    RandomStream random = sample.random(seed_);
    const int64_t count = output.num_elements();
    visit_type(type_, [&](auto zero) {
      using To = decltype(zero);
      To* const values = output.as<To>();
      for (int64_t i = 0; i < count; ++i)
        values[i] = convert<To>(coin_flip(random.next_uint32(), threshold));
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
