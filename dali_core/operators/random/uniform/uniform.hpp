// fn.random.uniform: how a random number in [0, 1) becomes one of a range.
#pragma once

#include <cmath>

#include "dali_core/host_device.hpp"

namespace dali_core {

// `unit` is in [0, 1). The result is in [low, high), even where rounding would reach `high`.
template <typename Float>
DC_HOST_DEV Float uniform_in_range(Float unit, float low, float high) {
  const double value = low + static_cast<double>(unit) * (static_cast<double>(high) - low);
  const Float rounded = static_cast<Float>(value);
  const Float end = static_cast<Float>(high);
  return rounded < end ? rounded : std::nextafter(end, static_cast<Float>(low));
}

}  // namespace dali_core
