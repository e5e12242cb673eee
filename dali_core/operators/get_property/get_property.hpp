// fn.get_property: which text a property is. There is nothing to compute on a device.
#pragma once

#include <string>

#include "dali_core/tensor.hpp"

namespace dali_core {

enum class Property { kLayout, kSource };

inline std::string property_of(const Tensor& tensor, Property property) {
  if (property == Property::kLayout) return tensor.layout.c_str();
  return tensor.source ? *tensor.source : std::string();
}

}  // namespace dali_core
