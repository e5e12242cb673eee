// Pointer attributes.
#include <cstring>

#include "memory.hpp"

namespace simulated {
namespace {

template <class T>
void give(void* where, T value) {
  std::memcpy(where, &value, sizeof value);
}

// Whether the attribute is available.
bool answer(void* where, CUpointer_attribute attribute, const Allocation* found) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      give(where, found ? found->context->handle : nullptr);
      return found;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      give(where, !found               ? CUmemorytype{}
                  : found->on_device() ? CU_MEMORYTYPE_DEVICE
                                       : CU_MEMORYTYPE_HOST);
      return found;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      give(where, found ? found->device : -2);
      return found;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      give(where, 0u);
      return found;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      give(where, found ? found->begin : 0);
      return found;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      give(where, found ? found->size : 0);
      return found;
    case CU_POINTER_ATTRIBUTE_MAPPED:
      give(where, found ? 1 : 0);
      return found;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      give(where, found ? found->id : 0ULL);
      return found;
    default:
      fail(CUDA_ERROR_INVALID_VALUE);
  }
}

void answer_about(void* where, CUpointer_attribute attribute, CUdeviceptr pointer,
                  const Allocation* found, bool* known) {
  if (attribute == CU_POINTER_ATTRIBUTE_DEVICE_POINTER) {
    give(where, found ? pointer : CUdeviceptr{0});
    *known = found;
  } else if (attribute == CU_POINTER_ATTRIBUTE_HOST_POINTER) {
    const bool on_host = found && !found->on_device();
    give(where, on_host ? pointer : CUdeviceptr{0});
    *known = on_host;
  } else {
    *known = answer(where, attribute, found);
  }
}

}  // namespace
}  // namespace simulated

using namespace simulated;

DRIVER(cuPointerGetAttribute, void* where, CUpointer_attribute attribute, CUdeviceptr pointer) {
  require(where, CUDA_ERROR_INVALID_VALUE);
  bool known = false;
  answer_about(where, attribute, pointer, usable(pointer, 0), &known);
  require(known, CUDA_ERROR_INVALID_VALUE);
}

// This one also supports memory that the driver does not know.
DRIVER(cuPointerGetAttributes, unsigned count, CUpointer_attribute* attributes, void** where,
       CUdeviceptr pointer) {
  require(count == 0 || (attributes && where), CUDA_ERROR_INVALID_VALUE);
  const Allocation* found = usable(pointer, 0);
  for (unsigned index = 0; index < count; ++index) {
    bool known = false;
    answer_about(where[index], attributes[index], pointer, found, &known);
  }
}
