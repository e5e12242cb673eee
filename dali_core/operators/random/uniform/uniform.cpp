#include "dali_core/operators/random/uniform/uniform.hpp"

#include "dali_core/operators/random/uniform/uniform_arguments.hpp"

namespace dali_core {

class Uniform : public Operator {
 public:
  explicit Uniform(const OperatorConfig& config) : arguments_(config), seed_(config.seed) {}

  void run(SampleContext& sample) const override {
    Tensor& output = sample.output(0, arguments_.type(), arguments_.shape(sample));
    std::vector<float> storage;
    const std::vector<float>& parameters = arguments_.parameters(sample, storage);
    RandomStream random = sample.random(seed_);
    const int64_t count = output.num_elements();
    visit_type(output.type, [&](auto zero) {
      using To = decltype(zero);
      To* const numbers = output.as<To>();
      if (arguments_.has_values()) {
        const auto choices = static_cast<uint32_t>(parameters.size());
        for (int64_t i = 0; i < count; ++i)
          numbers[i] = convert<To>(parameters[random.next_below(choices)]);
      } else {
        for (int64_t i = 0; i < count; ++i)
          numbers[i] = draw_from_range<To>(random, parameters[0], parameters[1]);
      }
    });
  }

 private:
  UniformArguments arguments_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_OPERATOR("random.uniform", Uniform)

}  // namespace dali_core
