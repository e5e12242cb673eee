// The arguments of fn.one_hot, and the shape that they give.
#pragma once

#include <stdexcept>
#include <string>

#include "dali_core/fill_elements.hpp"
#include "dali_core/joining.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

struct OneHotResult {
  Shape shape;
  Layout layout;
  int64_t inner = 1;  // how many numbers lie in a row behind the new dimension
};

class OneHotArguments {
 public:
  explicit OneHotArguments(const OperatorConfig& config)
      : num_classes_(config.get<int64_t>("num_classes")),
        axis_(config.get_or<int64_t>("axis", -1)),
        on_value_(config.get<float>("on_value")),
        off_value_(config.get<float>("off_value")),
        type_(config.get<DataType>("dtype")),
        letter_(axis_letter(config)) {
    if (size_of(type_) == 0)
      throw std::invalid_argument("dtype must be a type of numbers (got number " +
                                  std::to_string(static_cast<int>(type_)) +
                                  "). Use a type such as types.FLOAT.");
  }

  DataType type() const { return type_; }
  int64_t num_classes() const { return num_classes_; }

  // As bits of the type.
  uint64_t on_value() const { return fill_bits(type_, on_value_); }
  uint64_t off_value() const { return fill_bits(type_, off_value_); }

  OneHotResult of(const SampleContext& sample) const {
    const Tensor& input = sample.input(0);
    const bool is_scalar = sample.num_inputs() > 1 && *sample.input(1).as<int8_t>() != 0;
    const Shape numbers = is_scalar ? Shape() : input.shape;
    const int axis = checked_axis(numbers.ndim);
    OneHotResult result;
    for (int i = 0; i < axis; ++i) result.shape.push_back(numbers[i]);
    result.shape.push_back(num_classes_);
    for (int i = axis; i < numbers.ndim; ++i) result.shape.push_back(numbers[i]);
    result.layout = layout(input, numbers.ndim, axis);
    for (int i = axis; i < numbers.ndim; ++i) result.inner *= numbers[i];
    return result;
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

  int64_t num_classes_, axis_;
  float on_value_, off_value_;
  DataType type_;
  char letter_;
};

}  // namespace dali_core
