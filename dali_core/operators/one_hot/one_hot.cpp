#include "dali_core/operators/one_hot/one_hot.hpp"

#include <algorithm>

#include "dali_core/operators/one_hot/one_hot_arguments.hpp"

namespace dali_core {

// Tells each sample whether all of its batch have one element.
class OnlySingleNumbers : public Operator {
 public:
  explicit OnlySingleNumbers(const OperatorConfig&) {}

  bool reads_batch() const override { return true; }

  void run(SampleContext& sample) const override {
    bool only = true;
    for (int i = 0; i < sample.batch_size(); ++i) {
      const Tensor& other = sample.input_of_sample(0, i);
      only = only && (other.type == DataType::kNone || other.num_elements() == 1);
    }
    *sample.output(0, DataType::kInt8, {}).as<int8_t>() = only;
  }
};

class OneHot : public Operator {
 public:
  explicit OneHot(const OperatorConfig& config) : arguments_(config) {}

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const OneHotResult result = arguments_.of(sample);
    Tensor& output = sample.output(0, arguments_.type(), result.shape, result.layout);
    visit_type(output.type, [&](auto to) {
      using To = decltype(to);
      std::fill_n(output.as<To>(), output.num_elements(), arguments_.off_value<To>());
      visit_type(input.type, [&](auto from) {
        mark(input.as<decltype(from)>(), input.num_elements(), result.inner, output.as<To>());
      });
    });
  }

 private:
  // `inner` is how many numbers lie in a row behind the new dimension.
  template <typename To, typename From>
  void mark(const From* numbers, int64_t count, int64_t inner, To* out) const {
    const int64_t num_classes = arguments_.num_classes();
    const To on_value = arguments_.on_value<To>();
    for (int64_t first = 0; first < count; first += inner, out += inner * num_classes)
      for (int64_t i = 0; i < inner; ++i) {
        const int64_t number = class_of(numbers[first + i], num_classes);
        if (number >= 0) out[number * inner + i] = on_value;
      }
  }

  OneHotArguments arguments_;
};

DALI_CORE_REGISTER_OPERATOR("one_hot", OneHot)
DALI_CORE_REGISTER_OPERATOR("one_hot.only_single_numbers", OnlySingleNumbers)

}  // namespace dali_core
