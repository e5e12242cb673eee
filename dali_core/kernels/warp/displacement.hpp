// The base class of operators that move the pixels of an image by a formula and can be switched
// off.
#pragma once

#include <algorithm>
#include <string>

#include "dali_core/each_frame.hpp"
#include "dali_core/kernels/warp/warp_image.hpp"

namespace dali_core {

class Displacement : public Operator, public EachFrame {
 public:
  explicit Displacement(const OperatorConfig& config) : arguments_(config), mask_(config, "mask") {}

  void run(SampleContext& sample) const override {
    const Tensor& image = sample.input(0);
    const Layout layout = image_layout(image, "FHWC");
    if (layout != Layout("HWC"))
      throw std::invalid_argument("the input's layout must be \"HWC\" (got \"" +
                                  std::string(layout.c_str()) +
                                  "\"). Reorder the dimensions before this operator.");
    if (mask_.at(sample) == 0) {
      sample.forward(0, image).layout = layout;
      return;
    }
    const WarpShape shape = warp_shape(image);
    const Tensor& output = *sample.output(arguments_.infer(sample, shape, shape.extent));
    if (output.num_elements() == 0) return;
    WarpTask<2> task = arguments_.task<2>(image, shape, shape.extent, output);
    task.scratch = sample.scratch<char>(0, warp_scratch_size(shape.channels));
    displace(sample, task);
  }

 protected:
  // Computes the output of a task.
  virtual void displace(SampleContext& sample, const WarpTask<2>& task) const = 0;

 private:
  WarpArguments arguments_;
  Argument<int> mask_;
};

}  // namespace dali_core
