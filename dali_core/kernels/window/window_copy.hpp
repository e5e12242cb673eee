// Copying a window of a tensor: what fn.crop and fn.slice do once they know which.
#pragma once

#include <vector>

#include "dali_core/kernels/window/window.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

// What has been decided about the copy of a window, on the host or on a device.
struct PlannedWindow {
  Window window;
  DataType type;  // of the output
  Layout layout;
  int channel_axis;  // the dimension that lists of fill values belong to, or -1
  bool is_whole;     // nothing changes
  bool mirrored[kMaxDims] = {};
};

class WindowCopy {
 public:
  // Reads out_of_bounds_policy, fill_values, dtype and its former name output_dtype.
  explicit WindowCopy(const OperatorConfig& config);

  // Checks a window of `input`, and applies the policy. Lists of fill values belong to the
  // dimension `channel_axis`, or nowhere if that is -1.
  PlannedWindow plan(const Tensor& input, Window window, const Layout& layout,
                     int channel_axis) const;

  // Makes output 0 of a window of input 0, which is forwarded where nothing changes.
  void run(SampleContext& sample, const Window& wanted, const Layout& layout,
           int channel_axis) const;

  OutOfBounds policy() const { return policy_; }
  const std::vector<float>& fill_values() const { return fill_values_; }

  DataType output_type(DataType input) const;

 private:
  void check_fill(const Shape& extent, int channel_axis) const;

  OutOfBounds policy_;
  std::vector<float> fill_values_;
  DataType type_;
};

}  // namespace dali_core
