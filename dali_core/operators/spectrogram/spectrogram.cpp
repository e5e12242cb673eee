#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "dali_core/device_inputs.hpp"
#include "dali_core/device_tasks.hpp"
#include "dali_core/kernels/audio/audio_inputs.hpp"
#include "dali_core/kernels/audio/spectrogram_device.hpp"

namespace dali_core {
namespace {

SpectrogramRule spectrogram_rule_of(const OperatorConfig& config) {
  const auto length = config.get<int64_t>("window_length");
  const auto size = config.get_or<int64_t>("nfft", length);
  if (size < length)
    throw std::invalid_argument("nfft must be at least window_length (got " + std::to_string(size) +
                                " and " + std::to_string(length) + "). Use shorter windows.");
  auto window = config.get<std::vector<float>>("window_fn");
  if (window.empty()) window = hann_window(length);
  if (static_cast<int64_t>(window.size()) != length)
    throw std::invalid_argument("window_fn must have window_length numbers (got " +
                                std::to_string(window.size()) + " for " + std::to_string(length) +
                                "). Set window_length.");
  const SignalPadding outside =
      config.get<bool>("reflect_padding") ? SignalPadding::kReflected : SignalPadding::kZeros;
  return {RealTransform(size),
          std::move(window),
          config.get<int64_t>("window_step"),
          config.get<bool>("center_windows") ? outside : SignalPadding::kNone,
          config.get<int64_t>("power") == 1,
          config.get<std::string>("layout") == "tf"};
}

}  // namespace

class Spectrogram : public Operator {
 public:
  explicit Spectrogram(const OperatorConfig& config) : rule_(spectrogram_rule_of(config)) {}

  void run(SampleContext& sample) const override {
    const Tensor& signal = sample.input(0);
    Tensor& output = *sample.output(infer(signal));
    float* const memory = sample.scratch<float>(0, static_cast<size_t>(rule_.num_floats()));
    compute_spectrogram(rule_, signal.as<float>(), signal.num_elements(), output.as<float>(),
                        memory);
  }

  void plan(DeviceBatch& batch) const override {
    int64_t most_windows = 0;
    batch.for_each([&](int i, SampleContext& sample) {
      const Inferred inferred = infer(sample.input(0));
      batch.declare(i, inferred);
      most_windows = std::max(most_windows, windows_of(inferred.shape));
    });
    batch.allocate();
    if (batch.size() == 0) return;
    const SpectrogramOnDevice device(rule_, most_windows, batch.size());
    const SpectrogramTables* const tables = device.upload(batch);
    std::vector<SpectrogramTask> tasks;
    batch.for_each([&](int i, SampleContext& sample) {
      const Tensor& signal = sample.input(0);
      Tensor& output = batch.output(0, i);
      const int64_t num_windows = windows_of(output.shape);
      tasks.push_back({tables, static_cast<const float*>(data_on_device(batch, signal)),
                       output.as<float>(), device.memory_for(batch, num_windows),
                       signal.num_elements(), num_windows});
    });
    launch_tasks(batch, device.kernel(), tasks, device.num_blocks(), kSpectrumThreads,
                 device.shared_bytes());
  }

 private:
  int64_t windows_of(const Shape& output) const { return output[rule_.time_major ? 0 : 1]; }

  Inferred infer(const Tensor& signal) const {
    check_float(signal);
    const int64_t length = signal.num_elements();
    int num_dims = 0;
    for (int i = 0; i < signal.shape.ndim; ++i) num_dims += signal.shape[i] != 1;
    if (num_dims > 1)
      throw std::invalid_argument("the input must have one channel (got shape " +
                                  to_string(signal.shape) +
                                  "). Decode with downmix=True, or select a channel.");
    const int64_t num_windows = length == 0 ? -1 : rule_.num_windows(length);
    if (num_windows < 0)
      throw std::invalid_argument("the input must be long enough for a window (got " +
                                  std::to_string(length) + " samples for " +
                                  std::to_string(length == 0 ? 1 : rule_.window.size()) +
                                  "). Pad it, or set center_windows.");
    const int64_t num_bins = rule_.transform.num_bins();
    const Shape shape =
        rule_.time_major ? Shape{num_windows, num_bins} : Shape{num_bins, num_windows};
    return {DataType::kFloat, shape, Layout(rule_.time_major ? "tf" : "ft")};
  }

  SpectrogramRule rule_;
};

DALI_CORE_REGISTER_OPERATOR("spectrogram", Spectrogram)

}  // namespace dali_core
