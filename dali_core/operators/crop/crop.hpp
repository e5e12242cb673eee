// fn.crop: which input element lands on an output element, and how it changes its type.
#pragma once

#include <cstdint>
#include <type_traits>

#include "dali_core/convert.hpp"
#include "dali_core/host_device.hpp"

namespace dali_core {

// Position along one dimension in the input; outside of it lies padding.
DC_HOST_DEV int64_t crop_source(int64_t position, int64_t window_start) {
  return position + window_start;
}

// Cropping drops the fraction where casting rounds, and keeps halves finite.
template <typename To, typename From>
DC_HOST_DEV To crop_convert(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<From, Half>) {
    return crop_convert<To>(to_float(value));
  } else if constexpr (std::is_same_v<To, Half>) {
    float number = static_cast<float>(value);
    number = number > 65504.0f ? 65504.0f : number;
    number = number < -65504.0f ? -65504.0f : number;
    return to_half(number);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return convert<To>(std::trunc(value));
  } else {
    return convert<To>(value);
  }
}

}  // namespace dali_core
