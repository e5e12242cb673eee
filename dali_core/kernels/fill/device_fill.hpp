// Filling outputs on a device with a smaller tensor that is repeated.
#pragma once

#include "dali_core/kernels/fill/fill.hpp"
#include "dali_core/kernels/gather/device_gather.hpp"

namespace dali_core {

// `value` is on the device, of the output's type.
inline Gather repeated_on_device(const Repeated& repeated, const void* value,
                                 const Tensor& output) {
  Gather gather;
  gather.in = value;
  gather.out = output.data;
  gather.element_bytes = size_of(output.type);
  gather.extents = output.shape;
  for (int i = 0; i < output.shape.ndim; ++i)
    gather.strides[i] = repeated.steps()[i] * gather.element_bytes;
  return gather;
}

}  // namespace dali_core
