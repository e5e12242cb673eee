// Taps of axes, for kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "dali_core/device_batch.hpp"
#include "dali_core/kernels/resample/resample.hpp"
#include "dali_core/kernels/resample/resample_sample.hpp"

namespace dali_core {

// An axis like the one before it shares its taps.
class UploadedTaps {
 public:
  explicit UploadedTaps(DeviceBatch& batch) : batch_(batch) {}

  // Starts are relative to `base`.
  DeviceTaps upload(const ResampleAxis& axis, const AxisTaps& taps, bool is_fixed, int64_t base);

 private:
  template <typename T>
  const T* upload_weights(const T* weights, int64_t num_outputs, int num_taps);

  DeviceBatch& batch_;
  ResampleAxis last_axis_;
  bool last_is_fixed_ = false;
  int64_t last_base_ = 0;
  DeviceTaps last_{};
};

}  // namespace dali_core
