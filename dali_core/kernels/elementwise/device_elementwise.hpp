// Elementwise operators on the device: a group of them is one launch.
#pragma once

#include <vector>

#include "dali_core/device_batch.hpp"
#include "dali_core/kernels/elementwise/elementwise.hpp"

namespace dali_core {

// Some elementwise operators, the last of which depends on all others. As ElementwiseProgram, it
// refers to the host's operators, which define the arithmetic and its types.
class DeviceElementwise : public DeviceChain {
 public:
  // `makers` has, for each input of each step, the earlier step that makes it; -1 for none.
  DeviceElementwise(std::vector<const ElementwiseStep*> steps,
                    std::vector<std::vector<int>> makers);

  bool plan(DeviceBatch& batch) const override;

 private:
  std::vector<const ElementwiseStep*> steps_;
  std::vector<std::vector<int>> makers_;
};

}  // namespace dali_core
