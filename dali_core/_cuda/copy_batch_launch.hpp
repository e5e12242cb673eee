// The launch of the kernel `copy_batch`.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dali_core/_cuda/kernels/copy_batch.hpp"
#include "dali_core/device_operator.hpp"

namespace dali_core {

// `copies` are on the host, `on_device` are the same ones on the device.
inline KernelLaunch copy_batch_launch(const BatchCopy* copies, int64_t count,
                                      const void* on_device) {
  constexpr int64_t kThreads = 256, kMostInY = 32768;
  int64_t most = 0;
  for (int64_t i = 0; i < count; ++i) most = std::max(most, copies[i].bytes);
  const int64_t blocks = blocks_for(most, kThreads, kBytesOfCopyingThread);
  KernelLaunch call;
  call.kernel = "copy_batch";
  call.grid[0] = static_cast<unsigned>(std::min<int64_t>(blocks, DeviceBatch::kMostBlocks));
  call.grid[1] = static_cast<unsigned>(std::min(count, kMostInY));
  call.grid[2] = static_cast<unsigned>((count + kMostInY - 1) / kMostInY);
  call.block[0] = kThreads;
  call.add(on_device);
  call.add(static_cast<int>(count));
  return call;
}

}  // namespace dali_core
