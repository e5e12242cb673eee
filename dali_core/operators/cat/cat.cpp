#include "dali_core/operators/cat/cat.hpp"

namespace dali_core {

class Cat : public Operator {
 public:
  explicit Cat(const OperatorConfig& config) : arguments_(config) {}

  void run(SampleContext& sample) const override { join(sample, arguments_.of(sample)); }

 private:
  CatArguments arguments_;
};

DALI_CORE_REGISTER_OPERATOR("cat", Cat)

}  // namespace dali_core
