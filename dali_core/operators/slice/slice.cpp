#include "dali_core/operators/slice/slice.hpp"

#include <stdexcept>
#include <string>

#include "dali_core/operator.hpp"
#include "dali_core/slice_window.hpp"
#include "dali_core/window_copy.hpp"

namespace dali_core {
namespace {

// How the dimensions of data without a layout are called.
Layout names_of_dimensions(const Tensor& input) {
  static const char* const usual[] = {"", "", "HW", "HWC", "DHWC", "FDHWC"};
  const int ndim = input.shape.ndim;
  if (input.layout.empty()) return Layout(ndim < 6 ? usual[ndim] : "");
  if (input.layout.ndim() != ndim)
    throw std::invalid_argument("the input's layout must have one letter a dimension (got \"" +
                                std::string(input.layout.c_str()) + "\" for shape " +
                                to_string(input.shape) + "). Set a layout that fits.");
  return input.layout;
}

}  // namespace

class Slice : public Operator, public WindowStep {
 public:
  explicit Slice(const OperatorConfig& config) : slice_(config), copy_(config) {}

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const Layout names = names_of_dimensions(input);
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
