// Copies of windows of a whole batch on a device, as one launch.
#pragma once

#include <vector>

#include "dali_core/device_batch.hpp"
#include "dali_core/kernels/window/window_copy.hpp"

namespace dali_core {

class DeviceWindowCopies {
 public:
  // With the policy and the fill values of an operator, which must outlive this; without, windows
  // lie inside.
  explicit DeviceWindowCopies(DeviceBatch& batch, const WindowCopy* copy = nullptr);

  // Declares output 0 of each sample, or forwards input 0. `windows` has one for each sample.
  void run(const std::vector<PlannedWindow>& windows);

 private:
  std::vector<uint64_t> fill_bits(DataType type) const;

  DeviceBatch& batch_;
  OutOfBounds policy_ = OutOfBounds::kError;
  std::vector<float> fill_values_{0.0f};
};

}  // namespace dali_core
