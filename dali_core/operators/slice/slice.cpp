#include "dali_core/operators/slice/slice.hpp"

#include "dali_core/operator.hpp"
#include "dali_core/slice_window.hpp"
#include "dali_core/window_copy.hpp"

namespace dali_core {

class Slice : public Operator, public WindowStep {
 public:
  explicit Slice(const OperatorConfig& config) : slice_(config), copy_(config) {}

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const Layout names = slice_layout(input);
    copy_.run(sample, slice_.window(sample, input.shape, names), input.layout, names.find('C'));
  }

  bool reshape(SampleContext& sample, ImageGeometry& image) const override {
    // Chains leave channels alone, however many there are.
    constexpr int64_t kAnyChannels = int64_t{1} << 40;
    const Window window =
        slice_.window(sample, {image.height(), image.width(), kAnyChannels}, "HWC");
    return image.has_layout() && window.start[2] == 0 && window.extent[2] == kAnyChannels &&
           copy_.reshape(window, image);
  }

 private:
  SliceArguments slice_;
  WindowCopy copy_;
};

DALI_CORE_REGISTER_OPERATOR("slice", Slice)

}  // namespace dali_core
