#include "dali_core/kernels/audio/spectrogram.hpp"

#include <string>
#include <utility>

#include "dali_core/kernels/audio/audio_inputs.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

SpectrogramRule rule_of(const OperatorConfig& config) {
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
  explicit Spectrogram(const OperatorConfig& config) : rule_(rule_of(config)) {}

  void run(SampleContext& sample) const override {
    const Tensor& signal = sample.input(0);
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
    Tensor& output =
        sample.output(0, DataType::kFloat, shape, Layout(rule_.time_major ? "tf" : "ft"));
    float* const memory = sample.scratch<float>(0, static_cast<size_t>(rule_.num_floats()));
    compute_spectrogram(rule_, signal.as<float>(), length, output.as<float>(), memory);
  }

 private:
  SpectrogramRule rule_;
};

DALI_CORE_REGISTER_OPERATOR("spectrogram", Spectrogram)

}  // namespace dali_core
