#include "dali_core/operators/stack/stack.hpp"

namespace dali_core {

class Stack : public Operator {
 public:
  explicit Stack(const OperatorConfig& config) : arguments_(config) {}

  void run(SampleContext& sample) const override { join(sample, arguments_.of(sample)); }

 private:
  StackArguments arguments_;
};

DALI_CORE_REGISTER_OPERATOR("stack", Stack)

}  // namespace dali_core
