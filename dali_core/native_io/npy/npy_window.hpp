// The part of an array that is in a file, or in memory, as a dense row-major tensor. Of a file,
// only the bytes that the part needs are read, and small gaps between them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "dali_core/kernels/window/window.hpp"
#include "dali_core/native_io/npy/npy_header.hpp"

namespace dali_core {

class NpyWindow {
 public:
  // Reads `bytes` bytes from a position among the data on.
  using Read = std::function<void(int64_t position, char* target, int64_t bytes)>;

  // `window` may reach outside of the array; the output is as large as the window.
  NpyWindow(const NpyHeader& header, const Window& window);

  // Writes what is inside of the array to where it belongs in `out`.
  void read(const Read& source, void* out);
  void copy(const void* data, void* out);

 private:
  // Dimensions in the order of the file, the slowest first. Strides are in elements.
  struct Axis {
    int64_t extent, source_stride, target_stride;
    int64_t span;         // elements of the file from the first to the last of this and inner axes
    bool is_contiguous;   // whether input and output have the same strides from this axis inwards
    bool has_small_gaps;  // reading a span of this and the inner axes reads little in vain
  };

  void read_axis(const Read& source, size_t axis, int64_t position, char* out);
  void place(size_t axis, int64_t count, const char* in, char* out) const;
  template <typename Bits>
  void place_elements(const Axis& axis, int64_t count, const char* in, char* out) const;
  int64_t span_from(size_t axis) const { return axis < axes_.size() ? axes_[axis].span : 1; }
  bool is_contiguous_from(size_t axis) const {
    return axis == axes_.size() || axes_[axis].is_contiguous;
  }

  int64_t bytes_;  // of an element
  bool swaps_;
  bool is_empty_ = false;
  int64_t first_source_ = 0, first_target_ = 0;  // elements
  std::vector<Axis> axes_;
  std::vector<char> buffer_;
};

}  // namespace dali_core
