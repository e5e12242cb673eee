#include "dali_core/operators/one_hot/one_hot.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "dali_core/joining.hpp"
#include "dali_core/operator.hpp"
#include "dali_core/window.hpp"

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
  explicit OneHot(const OperatorConfig& config)
      : num_classes_(config.get<int64_t>("num_classes")),
        axis_(config.get_or<int64_t>("axis", -1)),
        on_value_(config.get<float>("on_value")),
        off_value_(config.get<float>("off_value")),
        type_(config.get<DataType>("dtype")),
        letter_(axis_letter(config)) {
    if (num_classes_ < 0)
      throw std::invalid_argument("num_classes must be at least 0 (got " +
                                  std::to_string(num_classes_) + "). Count the classes.");
    if (size_of(type_) == 0)
      throw std::invalid_argument("dtype must be a type of numbers (got number " +
                                  std::to_string(static_cast<int>(type_)) +
                                  "). Use a type such as types.FLOAT.");
  }

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const bool is_scalar = sample.num_inputs() > 1 && *sample.input(1).as<int8_t>() != 0;
    const Shape numbers = is_scalar ? Shape() : input.shape;
    const int axis = checked_axis(numbers.ndim);
    Shape shape;
    for (int i = 0; i < axis; ++i) shape.push_back(numbers[i]);
    shape.push_back(num_classes_);
    for (int i = axis; i < numbers.ndim; ++i) shape.push_back(numbers[i]);
    Tensor& output = sample.output(0, type_, shape, layout(input, numbers.ndim, axis));
    int64_t inner = 1;
    for (int i = axis; i < numbers.ndim; ++i) inner *= numbers[i];
    visit_type(type_, [&](auto to) {
      using To = decltype(to);
      std::fill_n(output.as<To>(), output.num_elements(), fill_value<To>(off_value_));
      visit_type(input.type, [&](auto from) {
        mark(input.as<decltype(from)>(), input.num_elements(), inner, output.as<To>());
      });
    });
  }

 private:
  int checked_axis(int ndim) const {
    if (axis_ < -1 || axis_ > ndim)
      throw std::invalid_argument("axis must be from -1 to " + std::to_string(ndim) + " (got " +
                                  std::to_string(axis_) + "). Choose a place in the output.");
    return axis_ < 0 ? ndim : static_cast<int>(axis_);
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

  // `inner` is how many numbers lie in a row behind the new dimension.
  template <typename To, typename From>
  void mark(const From* numbers, int64_t count, int64_t inner, To* out) const {
    const To on_value = fill_value<To>(on_value_);
    for (int64_t first = 0; first < count; first += inner, out += inner * num_classes_)
      for (int64_t i = 0; i < inner; ++i) {
        const int64_t number = class_of(numbers[first + i], num_classes_);
        if (number >= 0) out[number * inner + i] = on_value;
      }
  }

  int64_t num_classes_, axis_;
  float on_value_, off_value_;
  DataType type_;
  char letter_;
};

DALI_CORE_REGISTER_OPERATOR("one_hot", OneHot)
DALI_CORE_REGISTER_OPERATOR("one_hot.only_single_numbers", OnlySingleNumbers)

}  // namespace dali_core
