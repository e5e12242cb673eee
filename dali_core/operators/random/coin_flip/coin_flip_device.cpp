#include "dali_core/operators/random/coin_flip/coin_flip.hpp"
#include "dali_core/operators/random/device_drawing.hpp"
#include "dali_core/operators/random/output_shape.hpp"

namespace dali_core {

class CoinFlipOnDevice : public DeviceOperator {
 public:
  explicit CoinFlipOnDevice(const OperatorConfig& config)
      : probability_(config, "probability"),
        shape_(config),
        type_(config.get_or<DataType>("dtype", DataType::kInt32)),
        seed_(config.seed) {}

  void plan(DeviceBatch& batch) const override {
    draw_on_device<CoinFlipTask>(
        batch, "flip_coins", type_, seed_, kGroup,
        [&](const SampleContext& sample) { return shape_.at(sample); },
        [&](CoinFlipTask& task, const SampleContext& sample) {
          task.threshold = coin_flip_threshold(probability_.at_or(sample, 0.5f));
        });
  }

 private:
  Argument<float> probability_;
  OutputShape shape_;
  DataType type_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_DEVICE_OPERATOR("random.coin_flip", CoinFlipOnDevice)

}  // namespace dali_core
