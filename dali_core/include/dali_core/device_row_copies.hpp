// Asks for copies of rows in one launch.
#pragma once

#include <algorithm>
#include <vector>

#include "dali_core/device_tasks.hpp"
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
  constexpr unsigned kThreads = 256;
  launch_tasks(batch, "copy_rows", wanted, blocks_for(largest, kThreads, kBytesOfRowThread),
               kThreads);
}

}  // namespace dali_core
