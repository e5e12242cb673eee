#include "dali_core/operator.hpp"
#include "dali_core/operators/resize/resize_image.hpp"
#include "dali_core/operators/resize/resize_size.hpp"

namespace dali_core {

class Resize : public Operator, public ResampleStep {
 public:
  explicit Resize(const OperatorConfig& config)
      : size_(config), filters_(config), save_shape_(config.get_or<bool>("save_attrs", false)) {}

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const ResizeView view(input, /*volumes=*/true);
    ResampleAxis axes[3];
    size_.choose(sample, view, axes);
    for (int i = 0; i < view.num_axes; ++i) filters_.choose(sample, axes[i]);
    if (save_shape_) {
      Tensor& shape = sample.output(1, DataType::kInt32, {view.num_axes});
      for (int i = 0; i < view.num_axes; ++i)
        shape.as<int32_t>()[i] = static_cast<int32_t>(view.extent[i]);
    }
    resize_image(sample, view, axes, filters_.output_type(input.type));
  }

  bool reshape(SampleContext& sample, ImageGeometry& image) const override {
    ResampleAxis axes[2];
    size_.choose(sample, ResizeView(image.height(), image.width()), axes);
    for (ResampleAxis& axis : axes) filters_.choose(sample, axis);
    return resize_in_chain(image, axes, filters_.output_type(image.type()));
  }

 private:
  ResizeSize size_;
  ResizeFilters filters_;
  bool save_shape_;
};

DALI_CORE_REGISTER_OPERATOR("resize", Resize)

}  // namespace dali_core
