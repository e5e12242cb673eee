// The binary interface of DLPack (https://dmlc.github.io/dlpack/latest/c_api.html), both capsule
// versions, and the export of a tensor. A consumer may call the deleter from any thread: it needs
// no GIL, since all that it releases is C++ memory. `dlpack_import.hpp` has the other direction.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "dali_core/tensor.hpp"

namespace dali_core {

struct DLDevice {
  int32_t device_type;  // one of those below, or others
  int32_t device_id;
};

constexpr int32_t kDLHost = 1, kDLCuda = 2, kDLPageLockedHost = 3, kDLCudaManaged = 13;

struct DLDataType {
  uint8_t code;  // 0: int, 1: unsigned, 2: float, 6: bool
  uint8_t bits;
  uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor*);
};

struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned*);
  uint64_t flags;  // 1: read only, 2: copied
  DLTensor dl_tensor;
};

inline DLDataType to_dlpack(DataType type) {
  const auto bits = static_cast<uint8_t>(8 * size_of(type));
  switch (type) {
    case DataType::kUInt8:
    case DataType::kUInt16:
    case DataType::kUInt32:
    case DataType::kUInt64:
      return {1, bits, 1};
    case DataType::kInt8:
    case DataType::kInt16:
    case DataType::kInt32:
    case DataType::kInt64:
      return {0, bits, 1};
    case DataType::kFloat16:
    case DataType::kFloat:
    case DataType::kFloat64:
      return {2, bits, 1};
    case DataType::kBool:
      return {6, bits, 1};
    default:
      throw std::invalid_argument("a tensor without an element type cannot be exported");
  }
}

// `Managed` is one of the two managed structures.
template <typename Managed>
Managed* export_dlpack(const Tensor& tensor) {
  struct Exported {
    Tensor tensor;
    int64_t strides[kMaxDims];
    Managed managed;
  };
  auto* exported = new Exported{tensor, {}, {}};
  Shape& shape = exported->tensor.shape;
  int64_t stride = 1;
  for (int i = shape.ndim - 1; i >= 0; --i) {
    exported->strides[i] = stride;
    stride *= shape[i];
  }
  Managed& managed = exported->managed;
  const DLDevice device =
      tensor.device == kHost ? DLDevice{kDLHost, 0} : DLDevice{kDLCuda, tensor.device};
  managed.dl_tensor = {tensor.data,       device, shape.ndim, to_dlpack(tensor.type), shape.dims,
                       exported->strides, 0};
  managed.manager_ctx = exported;
  managed.deleter = [](Managed* self) { delete static_cast<Exported*>(self->manager_ctx); };
  return &managed;
}

inline DLManagedTensor* export_unversioned(const Tensor& tensor) {
  return export_dlpack<DLManagedTensor>(tensor);
}

inline DLManagedTensorVersioned* export_versioned(const Tensor& tensor, bool copied) {
  DLManagedTensorVersioned* managed = export_dlpack<DLManagedTensorVersioned>(tensor);
  managed->major = 1;
  managed->minor = 0;
  managed->flags = copied ? 2 : 0;
  return managed;
}

}  // namespace dali_core
