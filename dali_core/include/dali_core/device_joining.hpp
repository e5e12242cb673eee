// Laying inputs side by side on a device.
#pragma once

#include <vector>

#include "dali_core/device_inputs.hpp"
#include "dali_core/device_row_copies.hpp"
#include "dali_core/joining.hpp"

namespace dali_core {

// Makes output 0 of all samples in one launch. `Arguments::of` tells what comes of a sample.
template <typename Arguments>
void join_on_device(DeviceBatch& batch, const Arguments& arguments) {
  std::vector<Joined> joined(static_cast<size_t>(batch.size()));
  batch.for_each([&](int i, SampleContext& sample) {
    const Joined& result = joined[i] = arguments.of(sample);
    if (result.only >= 0) {
      batch.forward(0, i, sample.input(result.only), result.shape, result.layout);
    } else {
      batch.declare(0, i, sample.input(0).type, result.shape, result.layout);
    }
  });
  batch.allocate();
  std::vector<RowCopy> copies;
  batch.for_each([&](int i, SampleContext& sample) {
    const Joined& result = joined[i];
    const Tensor& output = batch.output(0, i);
    if (result.only >= 0 || output.num_bytes() == 0) return;
    const int64_t pitch = output.num_bytes() / result.num_slices;
    char* place = static_cast<char*>(output.data);
    for (int k = 0; k < sample.num_inputs(); ++k) {
      const Tensor& input = sample.input(k);
      const int64_t bytes = input.num_bytes() / result.num_slices;
      if (bytes == 0) continue;
      copies.push_back(
          {data_on_device(batch, input), place, result.num_slices, bytes, bytes, pitch});
      place += bytes;
    }
  });
  launch_row_copies(batch, copies);
}

}  // namespace dali_core
