// Parameters of a canvas for the host and for a device, and the host's loops that fill it.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "dali_core/device_batch.hpp"
#include "dali_core/kernels/paste/paste.hpp"

namespace dali_core {

// A canvas without regions. `color` has the bytes of all its channels, or one byte for all.
inline PasteTask canvas_task(const Tensor& canvas, int64_t row_bytes,
                             const std::vector<uint8_t>& color, const uint8_t* color_there) {
  PasteTask task{};
  task.out = canvas.data;
  task.bytes = canvas.num_bytes();
  task.row_bytes = quick_divisor(row_bytes);
  task.color_bytes = quick_divisor(static_cast<int64_t>(color.size()));
  task.color = color_there;
  if (color.size() <= size_t{kShortColor}) {
    uint8_t repeated[sizeof task.repeated];
    for (size_t i = 0; i < sizeof repeated; ++i) repeated[i] = color[i % color.size()];
    std::memcpy(task.repeated, repeated, sizeof repeated);
  }
  return task;
}

// Threads store words of 16 bytes, four of them to make up for reading the parameters.
inline int64_t paste_threads(const PasteTask& task) { return blocks_for(task.bytes + 15, 16 * 4); }

// The first row of the canvas is filled pixel by pixel, the others are copies of it.
inline void fill_canvas(const PasteTask& task) {
  const int64_t row_bytes = task.row_bytes.divisor;
  auto* const out = static_cast<uint8_t*>(task.out);
  for (int64_t i = 0; i < row_bytes; ++i) out[i] = task.color_byte(i);
  for (int64_t done = row_bytes; done < task.bytes; done += row_bytes)
    std::memcpy(out + done, out, static_cast<size_t>(row_bytes));
}

inline void paste_region(const PasteTask& task, const PastedRegion& region) {
  char* const out = static_cast<char*>(task.out);
  for (int64_t row = region.top; row < region.bottom; ++row)
    std::memcpy(out + row * task.row_bytes.divisor + region.left, region.source(row, region.left),
                static_cast<size_t>(region.right - region.left));
}

}  // namespace dali_core
