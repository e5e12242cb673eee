#include "dali_core/fill.hpp"

namespace dali_core {

class ZerosLike : public Operator {
 public:
  explicit ZerosLike(const OperatorConfig& config)
      : type_(config.get_or<DataType>("dtype", DataType::kNone)) {}

  void run(SampleContext& sample) const override {
    const Tensor& like = sample.input(0);
    const DataType type = type_ == DataType::kNone ? like.type : type_;
    fill_with(sample.output(0, type, like.shape, like.layout), 0);
  }

 private:
  DataType type_;
};

DALI_CORE_REGISTER_OPERATOR("zeros_like", ZerosLike)

}  // namespace dali_core
