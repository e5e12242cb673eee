#include <stdexcept>

#include "dali_core/kernels/image_chain/crop_in_chain.hpp"
#include "dali_core/kernels/window/slice_window.hpp"
#include "dali_core/kernels/window/window_copy_device.hpp"

namespace dali_core {

class Slice : public Operator, public WindowStep {
 public:
  explicit Slice(const OperatorConfig& config) : slice_(config), copy_(config) {}

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const Layout names = slice_layout(input);
    copy_.run(sample, slice_.window(sample, input.shape, names), input.layout, names.find('C'));
  }

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

  bool reshape(SampleContext& sample, ImageGeometry& image) const override {
    // Chains leave channels alone, however many there are.
    constexpr int64_t kAnyChannels = int64_t{1} << 40;
    const Window window =
        slice_.window(sample, {image.height(), image.width(), kAnyChannels}, "HWC");
    return image.has_layout() && window.start[2] == 0 && window.extent[2] == kAnyChannels &&
           crop_in_chain(image, copy_, window);
  }

  bool is_same_for_frames(const SampleContext& sample, int64_t frames) const override {
    // The extents differ, so that axes that are numbers show whether they mean the same.
    const Window image = slice_.window(sample, {11, 13, 17}, "HWC");
    const Window clip = slice_.window(sample, {frames, 11, 13, 17}, "FHWC");
    if (clip.start[0] != 0 || clip.extent[0] != frames) return false;
    for (int i = 0; i < 3; ++i)
      if (clip.start[i + 1] != image.start[i] || clip.extent[i + 1] != image.extent[i])
        return false;
    return true;
  }

 private:
  SliceArguments slice_;
  WindowCopy copy_;
};

DALI_CORE_REGISTER_OPERATOR("slice", Slice)

}  // namespace dali_core
