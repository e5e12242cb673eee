// Asks for copies of rows in one launch.
#pragma once

#include <algorithm>
#include <vector>

#include "dali_core/device_operator.hpp"
#include "dali_core/row_copies.hpp"

namespace dali_core {

inline void launch_row_copies(DeviceBatch& batch, const std::vector<RowCopy>& copies) {
  int64_t largest = 0;
  std::vector<RowCopy> wanted;
  for (RowCopy copy : copies) {
    if (copy.rows > 1 && copy.input_pitch == copy.bytes && copy.output_pitch == copy.bytes) {
      copy.bytes *= copy.rows;
      copy.rows = 1;
    }
    if (copy.rows * copy.bytes == 0) continue;
    largest = std::max(largest, copy.rows * copy.bytes);
    wanted.push_back(copy);
  }
  if (wanted.empty()) return;
  const auto tasks = batch.upload<RowCopy>(wanted.size());
  std::copy(wanted.begin(), wanted.end(), tasks.host);
  const auto count = static_cast<unsigned>(wanted.size());
  constexpr unsigned kThreads = 256, kMostInY = 32768;
  KernelLaunch call = batch.launch_of("copy_rows", tasks.device, static_cast<int>(count));
  call.grid[0] = static_cast<unsigned>(
      std::min(blocks_for(largest, kThreads, kBytesOfRowThread), DeviceBatch::kMostBlocks));
  call.grid[1] = std::min(count, kMostInY);
  call.grid[2] = (count + kMostInY - 1) / kMostInY;
  call.block[0] = kThreads;
  batch.launch(call);
}

}  // namespace dali_core
