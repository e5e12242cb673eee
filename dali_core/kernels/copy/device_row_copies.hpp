// Asks for copies of rows in one launch.
#pragma once

#include <algorithm>
#include <vector>

#include "dali_core/device_tasks.hpp"
#include "dali_core/kernels/copy/row_copies.hpp"

namespace dali_core {

// One launch of copies that the device has at `on_device`.
inline KernelLaunch row_copies_launch(const RowCopy* copies, int64_t count, const void* on_device) {
  constexpr unsigned kThreads = 256;
  int64_t largest = 0;
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, copies[i].rows * copies[i].bytes);
  KernelLaunch call;
  call.kernel = "copy_rows";
  call.add(on_device);
  call.add(static_cast<int>(count));
  call.set_grid(blocks_for(largest, kThreads, kBytesOfRowThread), count, kThreads);
  return call;
}

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

class RowCopies {
 public:
  void add(const RowCopy& copy) { copies_.push_back(copy); }

  // Of all bytes.
  void add(const void* in, void* out, int64_t bytes) { add({in, out, 1, bytes, bytes, bytes}); }

  void launch(DeviceBatch& batch) const { launch_row_copies(batch, copies_); }

 private:
  std::vector<RowCopy> copies_;
};

}  // namespace dali_core
