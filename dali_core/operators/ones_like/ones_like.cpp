#include "dali_core/fill.hpp"

namespace dali_core {

class OnesLike : public Operator {
 public:
  explicit OnesLike(const OperatorConfig& config)
      : type_(config.get_or<DataType>("dtype", DataType::kNone)) {}

  void run(SampleContext& sample) const override {
    const Tensor& like = sample.input(0);
    const DataType type = type_ == DataType::kNone ? like.type : type_;
    fill_with(sample.output(0, type, like.shape, like.layout), 1);
  }

 private:
  DataType type_;
};

DALI_CORE_REGISTER_OPERATOR("ones_like", OnesLike)

}  // namespace dali_core
