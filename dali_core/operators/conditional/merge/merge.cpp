#include <string>

#include "dali_core/operator.hpp"

namespace dali_core {

class Merge : public Operator {
 public:
  explicit Merge(const OperatorConfig&) {}

  void run(SampleContext& sample) const override {
    const Tensor& condition = sample.input(0);
    if (condition.type != DataType::kBool || condition.num_elements() != 1)
      throw std::invalid_argument("the condition of a branch must be a scalar of booleans (got " +
                                  std::string(name_of(condition.type)) + " of shape " +
                                  to_string(condition.shape) + "). Define the pipeline again.");
    const Tensor& chosen = sample.input(*condition.as<bool>() ? 1 : 2);
    sample.forward(0, chosen);
    sample.set_source(chosen.source);
  }
};

DALI_CORE_REGISTER_OPERATOR("conditional.merge", Merge)

}  // namespace dali_core
