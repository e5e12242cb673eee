// Copying a window of a tensor: what fn.crop and fn.slice do once they know which.
#pragma once

#include <vector>

#include "dali_core/image_chain.hpp"
#include "dali_core/operator.hpp"
#include "dali_core/window.hpp"

namespace dali_core {

class WindowCopy {
 public:
  // Reads out_of_bounds_policy, fill_values, dtype and its former name output_dtype.
  explicit WindowCopy(const OperatorConfig& config);

  // Makes output 0 of a window of input 0, which is forwarded where nothing changes. Lists of fill
  // values belong to the dimension `channel_axis`, or nowhere if that is -1.
  void run(SampleContext& sample, Window window, const Layout& layout, int channel_axis) const;

  // The same for an image in a chain; the first two dimensions of the window are rows and columns.
  bool reshape(const Window& window, ImageGeometry& image) const {
    return output_type(image.type()) == image.type() &&
           image.crop(window.start[0], window.start[1], window.extent[0], window.extent[1]);
  }

 private:
  void check_fill(const Shape& extent, int channel_axis) const;
  DataType output_type(DataType input) const;

  OutOfBounds policy_;
  std::vector<float> fill_values_;
  DataType type_;
};

}  // namespace dali_core
