// Data of inputs for kernels, wherever it is.
#pragma once

#include <cstring>

#include "dali_core/device_batch.hpp"

namespace dali_core {

// Up to so many bytes travel with the parameters of kernels.
constexpr int64_t kSmallUpload = 4096;

// The device's address of what a tensor holds; what is on the host is copied there.
inline const void* data_on_device(DeviceBatch& batch, const Tensor& tensor) {
  if (tensor.device != kHost) return tensor.data;
  const auto bytes = static_cast<size_t>(tensor.num_bytes());
  if (tensor.num_bytes() <= kSmallUpload) {
    const UploadedArray<char> copy = batch.upload<char>(bytes);
    if (bytes > 0) std::memcpy(copy.host, tensor.data, bytes);
    return copy.device;
  }
  void* const memory = batch.scratch(bytes);
  batch.copy_to_device(memory, tensor.data, bytes, tensor.storage);
  return memory;
}

}  // namespace dali_core
