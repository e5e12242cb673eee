// fn.one_hot: which class a number is.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "dali_core/data_type.hpp"
#include "dali_core/half.hpp"
#include "dali_core/host_device.hpp"

namespace dali_core {

// -1 if the number is no class.
template <typename T>
DC_HOST_DEV int64_t class_of(T number, int64_t num_classes) {
  if constexpr (std::is_same_v<T, Half>) {
    return class_of(to_float(number), num_classes);
  } else if constexpr (std::is_floating_point_v<T>) {
    const T whole = std::trunc(number);
    const bool is_class = whole >= 0 && whole < static_cast<T>(num_classes);
    return is_class ? static_cast<int64_t>(whole) : -1;
  } else {
    // One comparison: what is less than zero is greater than all numbers of classes, then.
    const auto own = static_cast<int64_t>(number);
    return static_cast<uint64_t>(own) < static_cast<uint64_t>(num_classes) ? own : -1;
  }
}

// What the kernel `mark_classes` does for one sample; `inner` numbers lie in a row behind the new
// dimension.
struct OneHotTask {
  const void* in;
  void* out;
  int64_t count;  // of elements of the output
  int64_t num_classes;
  int64_t inner;
  uint64_t on_value;
  uint64_t off_value;
  DataType from;
  int bytes;  // of an element of the output
};

}  // namespace dali_core
