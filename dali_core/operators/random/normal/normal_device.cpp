#include "dali_core/operators/random/device_drawing.hpp"
#include "dali_core/operators/random/normal/normal.hpp"
#include "dali_core/operators/random/output_shape.hpp"

namespace dali_core {

class NormalOnDevice : public DeviceOperator {
 public:
  explicit NormalOnDevice(const OperatorConfig& config)
      : mean_(config, "mean"),
        stddev_(config, "stddev"),
        shape_(config),
        type_(config.get_or<DataType>("dtype", DataType::kFloat)),
        seed_(config.seed) {}

  void plan(DeviceBatch& batch) const override {
    draw_on_device<NormalTask>(
        batch, "draw_normal", type_, seed_, 2,
        [&](const SampleContext& sample) { return shape_.at(sample); },
        [&](NormalTask& task, const SampleContext& sample) {
          task.mean = mean_.at_or(sample, 0.0f);
          task.stddev = stddev_.at_or(sample, 1.0f);
        });
  }

 private:
  Argument<float> mean_, stddev_;
  OutputShape shape_;
  DataType type_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_DEVICE_OPERATOR("random.normal", NormalOnDevice)

}  // namespace dali_core
