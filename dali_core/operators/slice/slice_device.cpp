#include <stdexcept>
#include <vector>

#include "dali_core/device_operator.hpp"
#include "dali_core/slice_window.hpp"
#include "dali_core/window_copy_device.hpp"

namespace dali_core {

class SliceOnDevice : public DeviceOperator {
 public:
  explicit SliceOnDevice(const OperatorConfig& config) : slice_(config), copy_(config) {}

  void plan(DeviceBatch& batch) const override {
    std::vector<PlannedWindow> windows;
    batch.for_each([&](int, SampleContext& sample) {
      const Tensor& input = sample.input(0);
      for (int number = 1; number < sample.num_inputs(); ++number)
        if (sample.input(number).device != kHost)
          throw std::invalid_argument(
              "the window must be on the host (got an input on a device). Take it from where it "
              "was made, without .gpu().");
      const Layout names = slice_layout(input);
      windows.push_back(copy_.plan(input, slice_.window(sample, input.shape, names), input.layout,
                                   names.find('C')));
      if (input.device == kHost) windows.back().is_whole = false;
    });
    DeviceWindowCopies(batch, &copy_).run(windows);
  }

 private:
  SliceArguments slice_;
  WindowCopy copy_;
};

DALI_CORE_REGISTER_DEVICE_OPERATOR("slice", SliceOnDevice)

}  // namespace dali_core
