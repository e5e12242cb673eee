// Memory for operators on a device, from this package's pools.
#pragma once

#include <cuda.h>

#include <memory>
#include <new>
#include <string>
#include <utility>

#include "dali_core/device_batch.hpp"
#include "device_state.hpp"

namespace dali_core {

// Any thread may use it, without the GIL.
class StreamAllocator final : public DeviceMemory {
 public:
  using Allocate = std::shared_ptr<void> (*)(const std::shared_ptr<StreamState>& stream,
                                             size_t bytes, CUresult* status, std::string* failure);

  StreamAllocator(std::shared_ptr<StreamState> stream, std::shared_ptr<BufferPool> host_pool,
                  Allocate allocate)
      : stream_(std::move(stream)), host_pool_(std::move(host_pool)), allocate_(allocate) {}

  int8_t device() const override { return static_cast<int8_t>(stream_->device->number); }

  std::shared_ptr<void> allocate(size_t bytes) override {
    CUresult status = CUDA_SUCCESS;
    std::string failure;
    std::shared_ptr<void> block = allocate_(stream_, bytes, &status, &failure);
    if (status == CUDA_ERROR_OUT_OF_MEMORY) throw OutOfDeviceMemory(failure);
    if (status != CUDA_SUCCESS) throw DeviceFailure(failure);
    return block;
  }

  std::shared_ptr<void> allocate_host(size_t bytes) override {
    try {
      return host_pool_->allocate(bytes);
    } catch (const std::bad_alloc&) {
      throw OutOfDeviceMemory("CUDA device " + std::to_string(stream_->device->number) + ": " +
                              std::to_string(bytes) +
                              " bytes of pinned memory must be left on the host (got " +
                              std::to_string(host_pool_->used_bytes()) +
                              " bytes in use here). Use smaller batches or a smaller "
                              "prefetch_queue_depth.");
    }
  }

 private:
  const std::shared_ptr<StreamState> stream_;
  const std::shared_ptr<BufferPool> host_pool_;
  const Allocate allocate_;
};

}  // namespace dali_core
