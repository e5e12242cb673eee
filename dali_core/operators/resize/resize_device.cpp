#include <memory>

#include "dali_core/operators/resize/resize_rule.hpp"
#include "dali_core/operators/resize/resizing_on_device.hpp"

namespace dali_core {

class ResizeOnDevice : public ResizingOnDevice<ResizeRule> {
 public:
  explicit ResizeOnDevice(const OperatorConfig& config)
      : ResizingOnDevice(config), save_shape_(config.get_or<bool>("save_attrs", false)) {}

  void plan(DeviceBatch& batch) const override {
    if (save_shape_)
      batch.for_each([&](int i, SampleContext& sample) {
        const ResizeView view(sample.input(0), ResizeRule::kHasVolumes);
        batch.declare(1, i, DataType::kInt32, {view.num_axes});
      });
    ResizingOnDevice::plan(batch);
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

DALI_CORE_REGISTER_DEVICE_OPERATOR("resize", ResizeOnDevice)

}  // namespace dali_core
