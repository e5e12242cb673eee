// Parameters of the kernels `warp_images` and `warp_volumes` for one frame.
#pragma once

#include <cstdint>

#include "dali_core/element_groups.hpp"
#include "dali_core/kernels/warp/warp.hpp"
#include "dali_core/quick_division.hpp"

namespace dali_core {

// A block makes this many groups of four pixels beside each other, in as many rows: threads that
// are near each other read what is near, whichever way an image is turned.
constexpr int kWarpTileGroups = 8;
constexpr int kWarpTileRows = 32;
constexpr int kWarpTileThreads = kWarpTileGroups * kWarpTileRows;

template <int kDims>
struct AffineTask {
  WarpSource<kDims> source;
  WarpMap<kDims> map;
  void* output;
  int64_t pixels;  // of the output
  QuickDivisor width, height;
  DataType input_type;
  DataType output_type;
  bool nearest;
  float fill_value;
  int64_t tiles;  // 0: pixels go one by one
  QuickDivisor tiles_across;
};

// Whether kernels have code of their own for groups of pixels.
inline bool goes_by_groups(const AffineTask<2>& task) {
  constexpr int64_t kMostPixels = (1 << 22) - 1;  // along an axis, see warp_groups.hpp
  constexpr int64_t kMostBytes = (int64_t{1} << 31) - 1;
  const WarpSource<2>& source = task.source;
  const bool is_small = source.extent[0] <= kMostPixels && source.extent[1] <= kMostPixels &&
                        task.width.divisor <= kMostPixels && task.height.divisor <= kMostPixels;
  const bool is_usual =
      task.input_type == task.output_type
          ? task.input_type == DataType::kUInt8 || task.input_type == DataType::kFloat
          : task.input_type == DataType::kUInt8 && task.output_type == DataType::kFloat;
  return !task.nearest && is_small && is_usual && (source.channels == 1 || source.channels == 3) &&
         source.extent[0] * source.channels * size_of(task.input_type) * source.extent[1] <=
             kMostBytes;
}
inline bool goes_by_groups(const AffineTask<3>&) { return false; }

}  // namespace dali_core
