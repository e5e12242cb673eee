#include "dali_core/kernels/flip/flip.hpp"

#include "dali_core/geometry.hpp"
#include "dali_core/kernels/flip/mirror_row.hpp"
#include "dali_core/kernels/image_chain/image_chain.hpp"
#include "dali_core/kernels/window/window_copy_device.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

// Reverses some dimensions, walking down to the innermost one that is reversed.
class Reversal {
 public:
  Reversal(const Tensor& image, const bool (&flipped)[kMaxDims]) : shape_(image.shape) {
    const Strides strides = dense_strides(shape_);
    for (int i = 0; i < shape_.ndim; ++i) {
      flipped_[i] = flipped[i];
      bytes_[i] = strides[i] * size_of(image.type);
      if (flipped_[i]) innermost_ = i;
    }
  }

  void run(const uint8_t* in, uint8_t* out) const { reverse(0, in, out); }

 private:
  void reverse(int dim, const uint8_t* in, uint8_t* out) const {
    const int64_t extent = shape_[dim];
    const int64_t bytes = bytes_[dim];
    if (dim == innermost_) {
      mirror_row(in, out, extent, bytes);
      return;
    }
    for (int64_t i = 0; i < extent; ++i)
      reverse(dim + 1, in + flip_source(i, extent, flipped_[dim]) * bytes, out + i * bytes);
  }

  Shape shape_;
  bool flipped_[kMaxDims] = {};
  int64_t bytes_[kMaxDims] = {};
  int innermost_ = 0;
};

}  // namespace

class Flip : public Operator, public WindowStep {
 public:
  explicit Flip(const OperatorConfig& config)
      : horizontal_(config, "horizontal"),
        vertical_(config, "vertical"),
        depthwise_(config, "depthwise") {}

  void run(SampleContext& sample) const override {
    const Tensor& image = sample.input(0);
    const Layout layout = image_layout(image, "FHWC");
    bool flipped[kMaxDims] = {};
    if (!choose(sample, image, layout, flipped)) {
      sample.forward(0, image).layout = layout;
      return;
    }
    Tensor& output = sample.output(0, image.type, image.shape, layout);
    Reversal(image, flipped).run(image.as<uint8_t>(), output.as<uint8_t>());
  }

  void plan(DeviceBatch& batch) const override {
    std::vector<PlannedWindow> windows;
    batch.for_each([&](int, SampleContext& sample) {
      const Tensor& image = sample.input(0);
      const Layout layout = image_layout(image, "FHWC");
      PlannedWindow planned{Window(image.shape), image.type, layout, /*channel_axis=*/-1, false};
      planned.is_whole = !choose(sample, image, layout, planned.mirrored);
      windows.push_back(planned);
    });
    DeviceWindowCopies(batch).run(windows);
  }

  bool reshape(SampleContext& sample, ImageGeometry& image) const override {
    image.mirror(horizontal(sample), vertical(sample));
    return true;
  }

  bool is_same_for_frames(const SampleContext&, int64_t) const override { return true; }

 private:
  bool horizontal(const SampleContext& sample) const { return horizontal_.at(sample) != 0; }
  bool vertical(const SampleContext& sample) const { return vertical_.at(sample) != 0; }

  // Marks the dimensions that are mirrored; false if the image stays as it is.
  bool choose(const SampleContext& sample, const Tensor& image, const Layout& layout,
              bool (&flipped)[kMaxDims]) const {
    const ImageAxes axes = image_axes(layout);
    bool any = false;
    const auto mark = [&](bool is_wanted, int axis) {
      if (is_wanted && axis >= 0 && image.shape[axis] > 1) flipped[axis] = any = true;
    };
    mark(horizontal(sample), axes.width);
    mark(vertical(sample), axes.height);
    mark(depthwise_.at(sample) != 0, axes.depth);
    return any && image.num_elements() > 0;
  }

  Argument<int> horizontal_, vertical_, depthwise_;
};

DALI_CORE_REGISTER_OPERATOR("flip", Flip)

}  // namespace dali_core
