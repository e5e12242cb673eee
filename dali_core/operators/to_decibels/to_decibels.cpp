#include <algorithm>
#include <cmath>
#include <limits>

#include "dali_core/kernels/audio/audio_inputs.hpp"
#include "dali_core/kernels/audio/decibels.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

class ToDecibels : public Operator {
 public:
  explicit ToDecibels(const OperatorConfig& config) {
    const double multiplier = config.get<float>("multiplier");
    const double cutoff = config.get<float>("cutoff_db");
    rule_ = {static_cast<float>(multiplier), config.get<float>("reference"),
             std::max(static_cast<float>(std::pow(10, cutoff / multiplier)),
                      std::numeric_limits<float>::denorm_min())};
  }

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    check_float(input);
    Tensor& output = sample.output(0, DataType::kFloat, input.shape, input.layout);
    convert_to_decibels(rule_, input.as<float>(), output.as<float>(), input.num_elements());
  }

 private:
  DecibelRule rule_;
};

DALI_CORE_REGISTER_OPERATOR("to_decibels", ToDecibels)

}  // namespace dali_core
