// Uploads arrays of the host with the parameters of a stage.
#pragma once

#include <algorithm>
#include <vector>

#include "dali_core/device_batch.hpp"

namespace dali_core {

// The device's address of a copy; null if there are no values.
template <typename T>
const T* uploaded(DeviceBatch& batch, const std::vector<T>& values) {
  if (values.empty()) return nullptr;
  const UploadedArray<T> array = batch.upload<T>(values.size());
  std::copy(values.begin(), values.end(), array.host);
  return array.device;
}

}  // namespace dali_core
