// Copies of windows of a whole batch on a device, as one launch.
#pragma once

#include <utility>
#include <vector>

#include "dali_core/device_batch.hpp"
#include "dali_core/kernels/window/window_copy.hpp"

namespace dali_core {

class DeviceWindowCopies {
 public:
  // With the policy and the fill values of an operator, which must outlive this; without, windows
  // lie inside.
  explicit DeviceWindowCopies(DeviceBatch& batch, const WindowCopy* copy = nullptr);

  // Pads with a value of each sample.
  DeviceWindowCopies(DeviceBatch& batch, std::vector<float> values)
      : batch_(batch), policy_(OutOfBounds::kPad), sample_values_(std::move(values)) {}

  // Declares output 0 of each sample, or forwards input 0. `windows` has one for each sample.
  void run(const std::vector<PlannedWindow>& windows);

 private:
  std::vector<uint64_t> fill_bits(DataType type) const;

  DeviceBatch& batch_;
  OutOfBounds policy_ = OutOfBounds::kError;
  std::vector<float> fill_values_{0.0f};
  std::vector<float> sample_values_;
};

}  // namespace dali_core
