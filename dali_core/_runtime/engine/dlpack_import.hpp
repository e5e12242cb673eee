// A tensor that another library exported by DLPack, as one of ours.
#pragma once

#include <Python.h>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "dali_core/memory.hpp"
#include "dali_core/tensor.hpp"
#include "dlpack.hpp"

namespace dali_core {

inline DataType from_dlpack(const DLDataType& type) {
  if (type.lanes != 1) return DataType::kNone;
  int log_size = 0;
  while (log_size < 3 && 8 << log_size < type.bits) ++log_size;
  if (8 << log_size != type.bits) return DataType::kNone;
  switch (type.code) {
    case 0:
      return static_cast<DataType>(static_cast<int>(DataType::kInt8) + log_size);
    case 1:
      return static_cast<DataType>(static_cast<int>(DataType::kUInt8) + log_size);
    case 2:
      if (log_size == 0) return DataType::kNone;  // one of the floating types of 8 bits
      return static_cast<DataType>(static_cast<int>(DataType::kFloat16) + log_size - 1);
    case 6:
      return log_size == 0 ? DataType::kBool : DataType::kNone;
    default:
      return DataType::kNone;
  }
}

// Whether the elements lie in row-major order without gaps.
inline bool is_dense(const DLTensor& tensor) {
  if (tensor.strides == nullptr) return true;
  int64_t step = 1;
  bool dense = true;
  for (int i = tensor.ndim - 1; i >= 0; --i) {
    if (tensor.shape[i] == 0) return true;
    dense &= tensor.shape[i] == 1 || tensor.strides[i] == step;
    step *= tensor.shape[i];
  }
  return dense;
}

// Copies elements that lie anywhere, also backwards, into row-major order.
inline void copy_strided(const DLTensor& source, int64_t element_size, char* target) {
  int64_t position[kMaxDims] = {};
  const char* element = static_cast<const char*>(source.data) + source.byte_offset;
  for (;;) {
    std::memcpy(target, element, static_cast<size_t>(element_size));
    target += element_size;
    int i = source.ndim - 1;
    for (; i >= 0; --i) {
      element += source.strides[i] * element_size;
      if (++position[i] < source.shape[i]) break;
      element -= source.strides[i] * element_size * source.shape[i];
      position[i] = 0;
    }
    if (i < 0) return;
  }
}

// Gives an exported tensor back to its producer, from any thread. A producer may be written in
// Python, so an exception that is on its way in this thread is put aside meanwhile.
template <typename Managed>
void give_back(Managed* managed) {
  if (managed->deleter == nullptr || !Py_IsInitialized()) return;
  if (!PyGILState_Check()) return managed->deleter(managed);
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  managed->deleter(managed);
  PyErr_Restore(type, value, traceback);
}

// Takes over what a capsule holds. On the host, it is copied and released if its strides are not
// ours. The last owner calls the producer's deleter, which DLPack allows in any thread. Throws
// std::invalid_argument, and releases it, if it cannot be one of our tensors.
template <typename Managed>
Tensor import_dlpack(Managed* managed, bool on_device) {
  const std::shared_ptr<void> owner(managed,
                                    [](void* taken) { give_back(static_cast<Managed*>(taken)); });
  const DLTensor& source = managed->dl_tensor;
  const int32_t kind = source.device.device_type;
  if (!on_device && kind != kDLHost && kind != kDLPageLockedHost)
    throw std::invalid_argument("be in host memory (got a tensor on device type " +
                                std::to_string(kind) + "). Copy it to the host first");
  if (on_device && kind != kDLCuda && kind != kDLCudaManaged)
    throw std::invalid_argument("be in the memory of a GPU (got a tensor on device type " +
                                std::to_string(kind) + "). Copy it there first");
  if (source.ndim < 0 || source.ndim > kMaxDims)
    throw std::invalid_argument("have at most 8 dimensions (got " + std::to_string(source.ndim) +
                                "). Reshape it first");
  Tensor tensor;
  tensor.type = from_dlpack(source.dtype);
  if (tensor.type == DataType::kNone)
    throw std::invalid_argument(
        "be integers, booleans or floating-point numbers of 16, 32 or 64 bits (got DLPack's type "
        "code " +
        std::to_string(source.dtype.code) + " with " + std::to_string(source.dtype.bits) +
        " bits and " + std::to_string(source.dtype.lanes) + " lanes). Convert it first");
  for (int i = 0; i < source.ndim; ++i) tensor.shape.push_back(source.shape[i]);
  if (!is_possible(tensor.shape, tensor.type))
    throw std::invalid_argument("have extents of at least 0, and at most " +
                                std::to_string(kMaxBytes) + " bytes (got shape " +
                                to_string(tensor.shape) + "). Check who exports it");
  if (is_dense(source)) {
    tensor.storage = owner;
    tensor.data = static_cast<char*>(source.data) + source.byte_offset;
    if (on_device) tensor.device = static_cast<int8_t>(source.device.device_id);
  } else if (on_device) {
    throw std::invalid_argument(
        "be dense and row-major (got other strides). Make it so first, as contiguous() does in "
        "PyTorch");
  } else {
    tensor.storage = BufferPool::create()->allocate(static_cast<size_t>(tensor.num_bytes()));
    tensor.data = tensor.storage.get();
    copy_strided(source, size_of(tensor.type), static_cast<char*>(tensor.data));
  }
  return tensor;
}

}  // namespace dali_core
