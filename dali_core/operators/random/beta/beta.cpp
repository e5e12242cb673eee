#include "dali_core/operators/random/beta/beta.hpp"

#include "dali_core/operator.hpp"
#include "dali_core/operators/random/output_shape.hpp"

namespace dali_core {

class Beta : public Operator {
 public:
  explicit Beta(const OperatorConfig& config)
      : alpha_(config, "alpha"),
        beta_(config, "beta"),
        shape_(config),
        type_(config.get_or<DataType>("dtype", DataType::kFloat)),
        seed_(config.seed) {
    if (type_ != DataType::kFloat && type_ != DataType::kFloat64)
      throw std::invalid_argument("dtype must be FLOAT or FLOAT64 (got " +
                                  std::string(name_of(type_)) + "). Cast the result.");
  }

  void run(SampleContext& sample) const override {
    const double alpha = alpha_.at_or(sample, 1.0f);
    const double beta = beta_.at_or(sample, 1.0f);
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
