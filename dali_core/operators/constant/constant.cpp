#include "dali_core/operators/constant/constant.hpp"

#include <cstring>

namespace dali_core {

// Memory that is handed out belongs to the user, so each sample gets its own copy.
class Constant : public Operator {
 public:
  explicit Constant(const OperatorConfig& config) : data_(config) {}

  void run(SampleContext& sample) const override {
    Tensor& output = sample.output(0, data_.type(), data_.shape(), data_.layout());
    if (!data_.bytes().empty())
      std::memcpy(output.data, data_.bytes().data(), data_.bytes().size());
  }

 private:
  ConstantData data_;
};

DALI_CORE_REGISTER_OPERATOR("constant", Constant)

}  // namespace dali_core
