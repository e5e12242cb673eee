#include <string>
#include <vector>

#include "dali_core/kernels/audio/audio_inputs.hpp"
#include "dali_core/kernels/audio/mel_filters.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

struct Filters {
  MelRule rule{};
  int64_t num_bins = -1;
  std::vector<MelFilter> filters;
};

MelRule rule_of(const OperatorConfig& config) {
  const MelRule rule{
      config.get<int64_t>("nfilter"),
      config.get<float>("sample_rate"),
      config.get<float>("freq_low"),
      config.get<float>("freq_high"),
      config.get<std::string>("mel_formula") == "htk" ? MelScale::kHtk : MelScale::kSlaney,
      config.get<bool>("normalize")};
  const double high = rule.high > 0 ? rule.high : rule.sample_rate / 2;
  if (!(high > rule.low))
    throw std::invalid_argument("freq_high, or half of sample_rate, must be above freq_low (got " +
                                std::to_string(high) + " and " + std::to_string(rule.low) +
                                "). Set them in Hz.");
  return rule;
}

int axis_of(const Tensor& input) {
  const int ndim = input.shape.ndim;
  const int axis = !input.layout.empty() ? input.layout.find('f') : ndim > 1 ? ndim - 2 : 0;
  if (axis < 0 || axis >= ndim)
    throw std::invalid_argument("the input must have a dimension of frequencies, f (got layout \"" +
                                std::string(input.layout.c_str()) + "\" and shape " +
                                to_string(input.shape) + "). Use fn.reinterpret.");
  return axis;
}

}  // namespace

class MelFilterBank : public Operator {
 public:
  explicit MelFilterBank(const OperatorConfig& config) : rule_(rule_of(config)) {}

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    check_float(input);
    const int axis = axis_of(input);
    Shape shape = input.shape;
    shape[axis] = rule_.num_filters;
    Tensor& output = sample.output(0, DataType::kFloat, shape, input.layout);
    if (output.num_elements() == 0) return;
    const AroundAxis around(input.shape, axis);
    apply_mel_filters(filters_for(around.extent), {around.outer, around.extent, around.inner},
                      input.as<float>(), output.as<float>());
  }

 private:
  // The number of bins comes with the samples; each thread keeps the filters of the last ones.
  const std::vector<MelFilter>& filters_for(int64_t num_bins) const {
    static thread_local Filters last;
    if (last.num_bins != num_bins || !(last.rule == rule_))
      last = {rule_, num_bins, mel_filters(rule_, num_bins)};
    return last.filters;
  }

  MelRule rule_;
};

DALI_CORE_REGISTER_OPERATOR("mel_filter_bank", MelFilterBank)

}  // namespace dali_core
