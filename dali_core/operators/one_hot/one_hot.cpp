#include "dali_core/kernels/fill/one_hot.hpp"

#include <stdexcept>
#include <string>

#include "dali_core/element_groups.hpp"
#include "dali_core/kernels/fill/fill_elements.hpp"
#include "dali_core/kernels/joining/joining.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {

// Whether all samples of the batch have one element, as an output of each sample.
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

class OneHot : public KernelOperator<OneHot, OneHotTask> {
 public:
  static constexpr auto kKernel = "mark_classes";

  explicit OneHot(const OperatorConfig& config)
      : num_classes_(config.get<int64_t>("num_classes")),
        axis_(config.get_or<int64_t>("axis", -1)),
        on_value_(config.get<float>("on_value")),
        off_value_(config.get<float>("off_value")),
        type_(config.get<DataType>("dtype")),
        letter_(axis_letter(config)) {}

  struct Result : Inferred {
    int64_t inner = 1;  // how many numbers lie in a row behind the new dimension
  };

  Result infer(const SampleContext& sample) const {
    const Tensor& input = sample.input(0);
    const bool is_scalar = sample.num_inputs() > 1 && *sample.input(1).as<int8_t>() != 0;
    const Shape numbers = is_scalar ? Shape() : input.shape;
    if (axis_ < -1 || axis_ > numbers.ndim)
      throw std::invalid_argument("axis must be from -1 to " + std::to_string(numbers.ndim) +
                                  " (got " + std::to_string(axis_) +
                                  "). Choose a place in the output.");
    const int axis = axis_ < 0 ? numbers.ndim : static_cast<int>(axis_);
    Result result{{type_, {}, layout(input, numbers.ndim, axis)}};
    for (int i = 0; i < axis; ++i) result.shape.push_back(numbers[i]);
    result.shape.push_back(num_classes_);
    for (int i = axis; i < numbers.ndim; ++i) {
      result.shape.push_back(numbers[i]);
      result.inner *= numbers[i];
    }
    return result;
  }

  OneHotTask task(const Result& result, TaskData& data) const {
    const Tensor input = data.input();
    OneHotTask task{};
    task.in = input.data;
    task.out = data.output().data;
    task.count = data.output().num_elements();
    task.num_classes = num_classes_;
    task.inner = result.inner;
    task.on_value = fill_bits(type_, on_value_);
    task.off_value = fill_bits(type_, off_value_);
    task.from = input.type;
    task.bytes = static_cast<int>(size_of(type_));
    return task;
  }

  static int64_t threads_for(const OneHotTask& task) { return task.count; }

  static void compute(const OneHotTask& task) {
    fill_elements(task.out, task.count, task.bytes, task.off_value);
    visit_type(task.from, [&](auto zero) {
      const auto* const numbers = static_cast<const decltype(zero)*>(task.in);
      switch (task.bytes) {
        case 1:
          return mark<uint8_t>(task, numbers);
        case 2:
          return mark<uint16_t>(task, numbers);
        case 4:
          return mark<uint32_t>(task, numbers);
        default:
          return mark<uint64_t>(task, numbers);
      }
    });
  }

 private:
  template <typename Bits, typename Number>
  static void mark(const OneHotTask& task, const Number* numbers) {
    // Stores of bytes might change the task, for all that the compiler knows.
    const int64_t num_classes = task.num_classes, inner = task.inner;
    const int64_t count = task.count / num_classes;
    const auto on_value = static_cast<Bits>(task.on_value);
    auto* out = static_cast<Bits*>(task.out);
    if (inner == 1) {  // a loop in a loop would take longer
      for (int64_t i = 0; i < count; ++i, out += num_classes) {
        const int64_t own = class_of(numbers[i], num_classes);
        if (own >= 0) out[own] = on_value;
      }
      return;
    }
    for (int64_t first = 0; first < count; first += inner, out += inner * num_classes)
      for (int64_t i = 0; i < inner; ++i) {
        const int64_t own = class_of(numbers[first + i], num_classes);
        if (own >= 0) out[own * inner + i] = on_value;
      }
  }

  Layout layout(const Tensor& input, int ndim, int axis) const {
    if (letter_ == 0) return Layout();
    std::string letters = ndim > 0 ? input.layout.c_str() : "";
    if (static_cast<int>(letters.size()) != ndim)
      throw std::invalid_argument("axis_name must go with an input that has a layout (got shape " +
                                  to_string(input.shape) + " and layout \"" + letters +
                                  "\"). Set a layout where the data enters, or leave axis_name "
                                  "out.");
    return Layout(letters.insert(static_cast<size_t>(axis), 1, letter_));
  }

  int64_t num_classes_, axis_;
  float on_value_, off_value_;
  DataType type_;
  char letter_;
};

DALI_CORE_REGISTER_OPERATOR("one_hot", OneHot)
DALI_CORE_REGISTER_OPERATOR("one_hot.only_single_numbers", OnlySingleNumbers)

}  // namespace dali_core
