#include <string>
#include <type_traits>

#include "dali_core/operator.hpp"

namespace dali_core {

class Predicate : public Operator {
 public:
  explicit Predicate(const OperatorConfig& config)
      : keyword_(config.get<std::string>("keyword")),
        negated_(config.get<int64_t>("negated") != 0),
        only_bool_(keyword_ == "and" || keyword_ == "or") {}

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const std::string what = keyword_ == "if" ? "the condition of 'if' must be "
                                              : "what '" + keyword_ + "' is applied to must be ";
    if (input.shape.ndim != 0)
      throw std::invalid_argument(what + "a scalar (got shape " + to_string(input.shape) +
                                  "). Reduce it to one number.");
    if (only_bool_ && input.type != DataType::kBool)
      throw std::invalid_argument(what + "a boolean (got " + name_of(input.type) +
                                  "). Compare it with something, or cast it to types.BOOL.");
    const bool value = visit_type(input.type, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_same_v<T, Half>)
        return (input.as<Half>()->bits & 0x7FFF) != 0;  // all but the two zeros
      else
        return *input.as<T>() != T{};
    });
    *sample.output(0, DataType::kBool, Shape{}).as<bool>() = value != negated_;
  }

 private:
  const std::string keyword_;
  const bool negated_, only_bool_;
};

DALI_CORE_REGISTER_OPERATOR("conditional.predicate", Predicate)

}  // namespace dali_core
