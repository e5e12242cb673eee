#include "dali_core/operators/random/normal/normal.hpp"

#include "dali_core/operator.hpp"
#include "dali_core/operators/random/output_shape.hpp"

namespace dali_core {

class Normal : public Operator {
 public:
  explicit Normal(const OperatorConfig& config)
      : mean_(config, "mean"),
        stddev_(config, "stddev"),
        shape_(config),
        type_(config.get_or<DataType>("dtype", DataType::kFloat)),
        seed_(config.seed) {}

  void run(SampleContext& sample) const override {
    const double mean = mean_.at_or(sample, 0.0f);
    const double stddev = stddev_.at_or(sample, 1.0f);
    Tensor& output = sample.output(0, type_, shape_.at(sample));
    RandomStream random = sample.random(seed_);
    const int64_t count = output.num_elements();
    visit_type(type_, [&](auto zero) {
      using To = decltype(zero);
      To* const numbers = output.as<To>();
      for (int64_t i = 0; i < count; i += 2) {
        const double radius = random.next_double();
        const NormalPair pair = normal_pair(radius, random.next_double());
        numbers[i] = scaled_normal<To>(pair.first, mean, stddev);
        if (i + 1 < count) numbers[i + 1] = scaled_normal<To>(pair.second, mean, stddev);
      }
    });
  }

 private:
  Argument<float> mean_, stddev_;
  OutputShape shape_;
  DataType type_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_OPERATOR("random.normal", Normal)

}  // namespace dali_core
