#include "dali_core/operators/random/choice/choice.hpp"

#include <cstring>

#include "dali_core/operators/random/choice/choice_arguments.hpp"

namespace dali_core {

class Choice : public Operator {
 public:
  explicit Choice(const OperatorConfig& config) : arguments_(config), seed_(config.seed) {}

  void run(SampleContext& sample) const override {
    const Tensor& from = sample.input(0);
    const Chosen chosen = arguments_.of(sample);
    RandomStream random = sample.random(seed_);
    const auto choose = [&] {
      return chosen.sums.empty()
                 ? choose_below(random, chosen.num_choices)
                 : choose_by_sums(chosen.sums.data(), chosen.num_choices, random.next_double());
    };
    Tensor& output = sample.output(0, from.type, chosen.shape, chosen.layout);
    if (from.shape.ndim == 0) {
      visit_type(from.type, [&](auto zero) {
        using To = decltype(zero);
        for (int64_t i = 0; i < chosen.num_drawn; ++i) output.as<To>()[i] = convert<To>(choose());
      });
      return;
    }
    const auto slice_bytes = static_cast<size_t>(chosen.slice_elements * size_of(from.type));
    for (int64_t i = 0; i < chosen.num_drawn; ++i)
      std::memcpy(output.as<char>() + static_cast<size_t>(i) * slice_bytes,
                  from.as<char>() + choose() * slice_bytes, slice_bytes);
  }

 private:
  ChoiceArguments arguments_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_OPERATOR("random.choice", Choice)

}  // namespace dali_core
