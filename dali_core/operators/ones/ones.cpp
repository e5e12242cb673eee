#include "dali_core/fill.hpp"
#include "dali_core/filled_shape.hpp"

namespace dali_core {

class Ones : public Operator {
 public:
  explicit Ones(const OperatorConfig& config)
      : shape_(config), type_(config.get_or<DataType>("dtype", DataType::kInt32)) {}

  void run(SampleContext& sample) const override { fill_with(shape_.output(sample, type_), 1); }

 private:
  FilledShape shape_;
  DataType type_;
};

DALI_CORE_REGISTER_OPERATOR("ones", Ones)

}  // namespace dali_core
