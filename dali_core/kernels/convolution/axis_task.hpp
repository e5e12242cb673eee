// Parameters of the kernel `convolve_axis` along one data axis of one sample, or of one plane of
// it.
#pragma once

#include <cstdint>

#include "dali_core/data_type.hpp"
#include "dali_core/quick_division.hpp"

namespace dali_core {

// A thread makes the sums for this many places that follow each other along the axis.
constexpr int kPlacesAlong = 4;

// How many neighbours across the axis it makes them for: as many as are loaded as one, or the
// channels of a pixel. Types that kernels have no code of their own for go one by one.
inline int places_across(int64_t across, DataType from) {
  if (from != DataType::kUInt8 && from != DataType::kFloat) return 1;
  return across >= 4 ? 4 : across == 3 ? 3 : 1;
}

// Lines along the axis, `across` numbers beside each other at every place. Strides count numbers.
struct AxisLines {
  int64_t line;  // from a group of lines to the next one
  int64_t step;  // from a place to the next one
};

// Each number of the output is the sum over all windows, one after the other, each of its own
// input.
struct AxisTask {
  static constexpr int kMaxWindows = 3;

  const void* input;
  void* output;
  const float* weights;
  int64_t sizes[kMaxWindows];
  int64_t num_windows;
  int64_t window_stride;  // from the input of a window to that of the next one
  int64_t lines;
  int64_t extent;  // places along the axis
  int64_t across;
  AxisLines in, out;
  int together;  // places_across()
  DataType from;
  DataType to;
  QuickDivisor groups_along, groups_across;

  int64_t items() const { return lines * groups_along.divisor * groups_across.divisor; }
};

}  // namespace dali_core
