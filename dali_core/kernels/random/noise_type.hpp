// The types of elements that noise can be added to.
#pragma once

#include <stdexcept>
#include <string>

#include "dali_core/types.hpp"

namespace dali_core {

// Calls `function` with an object of the C++ type behind `type`, which must not be bool.
template <typename Function>
void visit_numeric_type(DataType type, Function&& function) {
  visit_type(type, [&](auto zero) {
    if constexpr (std::is_same_v<decltype(zero), bool>)
      throw std::invalid_argument(
          "the input must consist of numbers (got type bool). Use fn.cast before.");
    else
      function(zero);
  });
}

}  // namespace dali_core
