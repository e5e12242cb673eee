// Asks for a kernel that has a task for some of the samples, or several for one.
#pragma once

#include <algorithm>
#include <vector>

#include "dali_core/device_batch.hpp"

namespace dali_core {

// The kernel gets the tasks and their number; `blocks` is what the largest one needs. Each block
// has `shared_bytes` of shared memory beside what the kernel declares.
template <typename Task>
void launch_tasks(DeviceBatch& batch, const char* kernel, const std::vector<Task>& tasks,
                  int64_t blocks, unsigned threads, unsigned shared_bytes = 0) {
  if (tasks.empty() || blocks == 0) return;
  const UploadedArray<Task> uploaded = batch.upload<Task>(tasks.size());
  std::copy(tasks.begin(), tasks.end(), uploaded.host);
  const auto count = static_cast<unsigned>(tasks.size());
  KernelLaunch call = batch.launch_of(kernel, uploaded.device, static_cast<int>(count));
  call.set_grid(blocks, count, threads);
  call.shared_bytes = shared_bytes;
  batch.launch(call);
}

}  // namespace dali_core
