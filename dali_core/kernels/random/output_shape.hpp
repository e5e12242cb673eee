// The shape of what a random operator draws: its argument `shape`, that of its input, or a scalar.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "dali_core/operator.hpp"

namespace dali_core {

class OutputShape {
 public:
  // Input `like`, if there is one, gives the shape.
  explicit OutputShape(const OperatorConfig& config, int like = 0)
      : shape_(config, "shape"), like_(like) {
    if (shape_.given() && config.num_inputs > like)
      throw std::invalid_argument(
          "shape must not be given together with an input (got both). The output has the shape of "
          "the input.");
  }

  Shape at(const SampleContext& sample) const {
    if (sample.num_inputs() > like_) return sample.input(like_).shape;
    Shape shape;
    if (!shape_.given()) return shape;
    std::vector<int64_t> storage;
    for (int64_t extent : shape_.at(sample, storage)) shape.push_back(extent);
    return shape;
  }

 private:
  ListArgument<int64_t> shape_;
  int like_;
};

}  // namespace dali_core
