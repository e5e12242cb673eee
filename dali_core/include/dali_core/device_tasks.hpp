// Asks for a kernel that has a task for some of the samples, or several for one.
#pragma once

#include <algorithm>
#include <vector>

#include "dali_core/device_operator.hpp"

namespace dali_core {

// The kernel gets the tasks and their number; `blocks` is what the largest one needs.
template <typename Task>
void launch_tasks(DeviceBatch& batch, const char* kernel, const std::vector<Task>& tasks,
                  int64_t blocks, unsigned threads) {
  if (tasks.empty() || blocks == 0) return;
  const UploadedArray<Task> uploaded = batch.upload<Task>(tasks.size());
  std::copy(tasks.begin(), tasks.end(), uploaded.host);
  const auto count = static_cast<unsigned>(tasks.size());
  constexpr unsigned kMostInY = 32768;
  KernelLaunch call = batch.launch_of(kernel, uploaded.device, static_cast<int>(count));
  call.grid[0] = static_cast<unsigned>(std::min(blocks, DeviceBatch::kMostBlocks));
  call.grid[1] = std::min(count, kMostInY);
  call.grid[2] = (count + kMostInY - 1) / kMostInY;
  call.block[0] = threads;
  batch.launch(call);
}

}  // namespace dali_core
