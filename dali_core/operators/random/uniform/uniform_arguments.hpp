// The arguments of fn.random.uniform, checked.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "dali_core/operator.hpp"
#include "dali_core/operators/random/output_shape.hpp"

namespace dali_core {

class UniformArguments {
 public:
  explicit UniformArguments(const OperatorConfig& config)
      : range_(config, "range"),
        values_(config, "values"),
        shape_(config),
        type_(config.get_or<DataType>("dtype", DataType::kFloat)) {
    if (values_.given()) {
      if (values_.is_constant()) check_values(config.get<std::vector<float>>("values"));
    } else if (range_.is_constant()) {
      check_range(config.get<std::vector<float>>("range"));
    }
  }

  DataType type() const { return type_; }
  Shape shape(const SampleContext& sample) const { return shape_.at(sample); }
  bool has_values() const { return values_.given(); }

  // The values to choose from, or the two ends of the range. `storage` is as for ListArgument.
  const std::vector<float>& parameters(const SampleContext& sample,
                                       std::vector<float>& storage) const {
    const std::vector<float>& given = (has_values() ? values_ : range_).at(sample, storage);
    has_values() ? check_values(given) : check_range(given);
    return given;
  }

 private:
  static void check_range(const std::vector<float>& range) {
    if (range.size() != 2)
      throw std::invalid_argument("range must be two numbers (got " + std::to_string(range.size()) +
                                  "). Pass (least, end).");
    if (range[0] >= range[1])
      throw std::invalid_argument("range must end above its start (got " +
                                  std::to_string(range[0]) + " to " + std::to_string(range[1]) +
                                  "). Pass (least, end).");
  }

  static void check_values(const std::vector<float>& values) {
    if (values.empty())
      throw std::invalid_argument(
          "values must not be empty (got no number). Pass the numbers to choose from.");
  }

  ListArgument<float> range_, values_;
  OutputShape shape_;
  DataType type_;
};

}  // namespace dali_core
