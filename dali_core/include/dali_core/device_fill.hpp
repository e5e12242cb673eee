// Filling outputs on a device: with a number, or with a smaller tensor that is repeated.
#pragma once

#include <cstring>
#include <vector>

#include "dali_core/device_gather.hpp"
#include "dali_core/device_inputs.hpp"
#include "dali_core/fill.hpp"

namespace dali_core {

// Fills the outputs, which have memory, with a number.
inline void fill_on_device(DeviceBatch& batch, int number) {
  std::vector<Gather> gathers;
  batch.for_each([&](int i, SampleContext&) {
    const Tensor& output = batch.output(0, i);
    const UploadedArray<uint64_t> value = batch.upload<uint64_t>(1);
    visit_type(output.type, [&](auto zero) {
      const auto element = convert<decltype(zero)>(number);
      std::memcpy(value.host, &element, sizeof element);
    });
    Gather gather;
    gather.in = value.device;
    gather.out = output.data;
    gather.element_bytes = size_of(output.type);
    gather.extents = output.shape;
    gathers.push_back(gather);
  });
  launch_gathers(batch, gathers);
}

// What fills an output with a tensor of its type, whose data are on the device.
inline Gather repeated_on_device(const Tensor& value, const void* data, const Tensor& output) {
  const Repeated repeated(value, output.shape);
  Gather gather;
  gather.in = data;
  gather.out = output.data;
  gather.element_bytes = size_of(output.type);
  gather.extents = output.shape;
  for (int i = 0; i < output.shape.ndim; ++i)
    gather.strides[i] = repeated.steps()[i] * gather.element_bytes;
  return gather;
}

}  // namespace dali_core
