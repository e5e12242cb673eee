// Limits of the values of arguments that come with each sample. Constants have been checked where
// the user gave them, against the same range of the SPEC.
#pragma once

#include <cstddef>
#include <string>

#include "dali_core/tensor.hpp"

namespace dali_core {

struct ArgumentLimits {
  size_t slot = 0;  // which of the arguments of its instruction
  std::string name;
  double least = 0;
  double most = 0;
  bool above = false;       // whether `least` itself is refused
  std::string rule;         // the same in words, such as "from 0 to 1"; empty: any will do
  double least_length = 0;  // how many numbers there must be
  double most_length = 0;
  std::string length_rule;

  // Throws std::invalid_argument if a value is outside, as NaN always is, or if there are too few
  // or too many. Frames with values of their own have each as many.
  void check(const Tensor& values) const;
};

}  // namespace dali_core
