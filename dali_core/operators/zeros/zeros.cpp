#include "dali_core/fill.hpp"
#include "dali_core/filled_shape.hpp"

namespace dali_core {

class Zeros : public Operator {
 public:
  explicit Zeros(const OperatorConfig& config)
      : shape_(config), type_(config.get_or<DataType>("dtype", DataType::kInt32)) {}

  void run(SampleContext& sample) const override { fill_with(shape_.output(sample, type_), 0); }

 private:
  FilledShape shape_;
  DataType type_;
};

DALI_CORE_REGISTER_OPERATOR("zeros", Zeros)

}  // namespace dali_core
