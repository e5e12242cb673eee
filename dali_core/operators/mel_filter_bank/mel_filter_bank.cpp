#include <map>
#include <string>
#include <vector>

#include "dali_core/kernels/audio/audio_inputs.hpp"
#include "dali_core/kernels/audio/mel_filters.hpp"
#include "dali_core/kernels/audio/mel_task.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {
namespace {

struct Filters {
  MelRule rule{};
  int64_t num_bins = -1;
  std::vector<MelFilter> filters;
};

MelRule mel_rule_of(const OperatorConfig& config) {
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
  explicit MelFilterBank(const OperatorConfig& config) : rule_(mel_rule_of(config)) {}

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    Tensor& output = *sample.output(infer(input));
    if (output.num_elements() == 0) return;
    const AroundAxis around(input.shape, axis_of(input));
    apply_mel_filters(filters_for(around.extent), {around.outer, around.extent, around.inner},
                      input.as<float>(), output.as<float>());
  }

  void plan(DeviceBatch& batch) const override {
    batch.for_each([&](int i, SampleContext& sample) { batch.declare(i, infer(sample.input(0))); });
    batch.allocate();
    KernelTasks<MelTask> tasks;
    std::map<int64_t, MelTask> prepared;  // by the number of bins
    batch.for_each([&](int i, SampleContext& sample) {
      const Tensor& input = sample.input(0);
      Tensor& output = batch.output(0, i);
      if (output.num_elements() == 0) return;
      const AroundAxis around(input.shape, axis_of(input));
      auto found = prepared.find(around.extent);
      if (found == prepared.end())
        found = prepared.emplace(around.extent, upload_filters(batch, around.extent)).first;
      MelTask task = found->second;
      task.in = static_cast<const float*>(data_on_device(batch, input));
      task.out = output.as<float>();
      task.count = output.num_elements();
      task.inner = quick_divisor(around.inner);
      tasks.add(task, task.count);
    });
    tasks.launch(batch, "apply_mel_filters");
  }

 private:
  Inferred infer(const Tensor& input) const {
    check_float(input);
    Shape shape = input.shape;
    shape[axis_of(input)] = rule_.num_filters;
    return {DataType::kFloat, shape, input.layout};
  }

  // A task without spectra.
  MelTask upload_filters(DeviceBatch& batch, int64_t num_bins) const {
    const std::vector<MelFilter>& filters = filters_for(num_bins);
    size_t num_weights = 0;
    for (const MelFilter& filter : filters) num_weights += filter.weights.size();
    const UploadedArray<MelRange> ranges = batch.upload<MelRange>(filters.size());
    const UploadedArray<float> weights = batch.upload<float>(num_weights);
    int64_t begin = 0;
    for (size_t i = 0; i < filters.size(); ++i) {
      const std::vector<float>& own = filters[i].weights;
      const auto count = static_cast<int64_t>(own.size());
      ranges.host[i] = {count > 0 ? filters[i].first : 0, count, begin};
      std::copy(own.begin(), own.end(), weights.host + begin);
      begin += count;
    }
    MelTask task{};
    task.num_bins = num_bins;
    task.filters = quick_divisor(static_cast<int64_t>(filters.size()));
    task.ranges = ranges.device;
    task.weights = weights.device;
    return task;
  }

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
