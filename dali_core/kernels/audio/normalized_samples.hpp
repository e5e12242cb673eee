// Samples of any type as numbers: for results with a sign from -1 to 1, for others from 0 to 1.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "dali_core/convert.hpp"
#include "dali_core/types.hpp"

namespace dali_core {

// Calls `function` with an object of the C++ type of samples.
template <typename Function>
void visit_sample_type(DataType type, const char* what, Function&& function) {
  visit_type(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, float> ||
                  (std::is_integral_v<T> && sizeof(T) <= 4 && !std::is_same_v<T, bool>))
      function(zero);
    else
      throw std::invalid_argument(std::string(what) +
                                  " must be float32, or integers of at most 32 bits (got " +
                                  name_of(type) + "). Use fn.cast.");
  });
}

inline bool is_unsigned(DataType type) {
  return type == DataType::kUInt8 || type == DataType::kUInt16 || type == DataType::kUInt32;
}

template <typename T>
float to_normalized(T value, bool to_unsigned) {
  if constexpr (std::is_unsigned_v<T>) {
    const double part = value * (1.0 / std::numeric_limits<T>::max());
    return static_cast<float>(to_unsigned ? part : 2 * part - 1);
  } else {
    float number = static_cast<float>(value);
    if constexpr (std::is_integral_v<T>)
      number = static_cast<float>(value * (1.0 / std::numeric_limits<T>::max()));
    return to_unsigned ? number * 0.5f + 0.5f : number;
  }
}

template <typename T>
T from_normalized(float value) {
  if constexpr (std::is_same_v<T, float>)
    return value;
  else
    return convert<T>(value * static_cast<float>(std::numeric_limits<T>::max()));
}

}  // namespace dali_core
