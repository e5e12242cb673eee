#include "dali_core/fill.hpp"

namespace dali_core {

class FullLike : public Operator {
 public:
  explicit FullLike(const OperatorConfig&) {}

  void run(SampleContext& sample) const override {
    const Tensor& like = sample.input(0);
    const Tensor& value = sample.input(1);
    Tensor& output = sample.output(0, like.type, like.shape, like.layout);
    const Repeated repeated(value, output);
    visit_type(value.type, [&](auto from_zero) {
      using From = decltype(from_zero);
      visit_type(like.type, [&](auto to_zero) {
        using To = decltype(to_zero);
        repeated.write(value.as<From>(), output.as<To>());
      });
    });
  }
};

DALI_CORE_REGISTER_OPERATOR("full_like", FullLike)

}  // namespace dali_core
