#include "dali_core/operators/one_hot/one_hot.hpp"

#include <cstring>

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
    const int64_t bytes = size_of(output.type);
    const uint64_t on_value = arguments_.on_value();
    fill_elements(output.data, output.num_elements(), bytes, arguments_.off_value());
    visit_type(input.type, [&](auto zero) {
      mark(input.as<decltype(zero)>(), input.num_elements(), result.inner, [&](int64_t place) {
        std::memcpy(output.as<char>() + place * bytes, &on_value, static_cast<size_t>(bytes));
      });
    });
  }

 private:
  // Calls `mark_one` with the place of every number's class. `inner` is how many numbers lie in a
  // row behind the new dimension.
  template <typename From, typename MarkOne>
  void mark(const From* numbers, int64_t count, int64_t inner, MarkOne&& mark_one) const {
    const int64_t num_classes = arguments_.num_classes();
    for (int64_t first = 0; first < count; first += inner)
      for (int64_t i = 0; i < inner; ++i) {
        const int64_t number = class_of(numbers[first + i], num_classes);
        if (number >= 0) mark_one(first * num_classes + number * inner + i);
      }
  }

  OneHotArguments arguments_;
};

DALI_CORE_REGISTER_OPERATOR("one_hot", OneHot)
DALI_CORE_REGISTER_OPERATOR("one_hot.only_single_numbers", OnlySingleNumbers)

}  // namespace dali_core
