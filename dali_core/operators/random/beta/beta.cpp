#include "dali_core/kernels/random/beta.hpp"

#include "dali_core/kernels/random/output_shape.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

class Beta : public Operator {
 public:
  explicit Beta(const OperatorConfig& config)
      : alpha_(config, "alpha"),
        beta_(config, "beta"),
        shape_(config),
        type_(config.get<DataType>("dtype")),
        seed_(config.seed) {}

  void run(SampleContext& sample) const override {
    const double alpha = alpha_.at(sample);
    const double beta = beta_.at(sample);
    Tensor& output = sample.output(0, type_, shape_.at(sample));
    RandomStream random = sample.random(seed_);
    const int64_t count = output.num_elements();
    for (int64_t i = 0; i < count; ++i) {
      const double first = log_gamma_variate(alpha, random);
      const double value = beta_from_gammas(first, log_gamma_variate(beta, random));
      if (type_ == DataType::kFloat)
        output.as<float>()[i] = static_cast<float>(value);
      else
        output.as<double>()[i] = value;
    }
  }

 private:
  Argument<float> alpha_, beta_;
  OutputShape shape_;
  DataType type_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_OPERATOR("random.beta", Beta)

}  // namespace dali_core
