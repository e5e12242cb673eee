#include <memory>

#include "dali_core/kernels/resize/resize_in_chain.hpp"
#include "dali_core/kernels/resize/resize_size.hpp"
#include "dali_core/kernels/resize/resizing_operator.hpp"

namespace dali_core {

// How the axes of a sample are resampled. Operators that resize differ in this only.
class ResizeRule {
 public:
  static constexpr bool kHasVolumes = true;

  explicit ResizeRule(const OperatorConfig& config) : size_(config), filters_(config) {}

  void choose(SampleContext& sample, const ResizeView& view, ResampleAxis* axes) const {
    size_.choose(sample, view, axes);
    for (int i = 0; i < view.num_axes; ++i) filters_.choose(sample, axes[i]);
  }

  DataType output_type(DataType input) const { return filters_.output_type(input); }

  bool reshape(SampleContext& sample, ImageGeometry& image) const {
    ResampleAxis axes[2];
    choose(sample, ResizeView(image.height(), image.width()), axes);
    return resize_in_chain(image, axes, output_type(image.type()));
  }

 private:
  ResizeSize size_;
  ResizeFilters filters_;
};

class Resize : public ResizingOperator<ResizeRule> {
 public:
  explicit Resize(const OperatorConfig& config)
      : ResizingOperator(config), save_shape_(config.get<bool>("save_attrs")) {}

  void run(SampleContext& sample) const override {
    ResizingOperator::run(sample);
    if (!save_shape_) return;
    const ResizeView view(sample.input(0), ResizeRule::kHasVolumes);
    Tensor& shape = sample.output(1, DataType::kInt32, {view.num_axes});
    for (int i = 0; i < view.num_axes; ++i)
      shape.as<int32_t>()[i] = static_cast<int32_t>(view.extent[i]);
  }

  void plan(DeviceBatch& batch) const override {
    if (save_shape_)
      batch.for_each([&](int i, SampleContext& sample) {
        const ResizeView view(sample.input(0), ResizeRule::kHasVolumes);
        batch.declare(1, i, DataType::kInt32, {view.num_axes});
      });
    ResizingOperator::plan(batch);
    if (save_shape_) upload_shapes(batch);
  }

 private:
  static void upload_shapes(DeviceBatch& batch) {
    constexpr size_t kBytes = 3 * sizeof(int32_t);
    const std::shared_ptr<void> memory =
        batch.allocate_host(static_cast<size_t>(batch.size()) * kBytes);
    int32_t* shape = static_cast<int32_t*>(memory.get());
    for (int i = 0; i < batch.size(); ++i) {
      const ResizeView view(batch.input(0, i), ResizeRule::kHasVolumes);
      for (int axis = 0; axis < view.num_axes; ++axis)
        shape[axis] = static_cast<int32_t>(view.extent[axis]);
      const Tensor& output = batch.output(1, i);
      batch.copy_to_device(output.data, shape, static_cast<size_t>(output.num_bytes()), memory);
      shape += view.num_axes;
    }
  }

  bool save_shape_;
};

DALI_CORE_REGISTER_OPERATOR("resize", Resize)

}  // namespace dali_core
