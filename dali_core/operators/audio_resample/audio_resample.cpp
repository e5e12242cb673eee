#include <algorithm>
#include <string>

#include "dali_core/kernels/audio/normalized_samples.hpp"
#include "dali_core/kernels/audio/resampling.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

constexpr size_t kSignalSlot = 0;

}  // namespace

class AudioResample : public Operator {
 public:
  explicit AudioResample(const OperatorConfig& config)
      : in_rate_(config, "in_rate"),
        out_rate_(config, "out_rate"),
        scale_(config, "scale"),
        out_length_(config, "out_length"),
        type_(config.get_or<DataType>("dtype", DataType::kNone)),
        filter_(config.get<float>("quality")) {
    if (in_rate_.given() != out_rate_.given())
      throw std::invalid_argument(
          "in_rate and out_rate must be given together (got one of them). Give both, or scale.");
    if (!in_rate_.given() && !scale_.given() && !out_length_.given())
      throw std::invalid_argument(
          "in_rate and out_rate, scale or out_length must be given (got none of them).");
    if (type_ != DataType::kNone) visit_sample_type(type_, "dtype", [](auto) {});
  }

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    if (input.shape.ndim < 1 || input.shape.ndim > 2)
      throw std::invalid_argument(
          "the input must have the shape (length,) or (length, channels) (got " +
          to_string(input.shape) + "). Use fn.reshape.");
    visit_sample_type(input.type, "the input", [](auto) {});
    const DataType type = type_ == DataType::kNone ? input.type : type_;
    const int64_t in_length = input.shape[0];
    const int64_t channels = input.shape.ndim > 1 ? input.shape[1] : 1;
    int64_t length;
    const RateRatio ratio = ratio_for(sample, in_length, length);
    Shape shape = input.shape;
    shape[0] = length;
    Tensor& output = sample.output(0, type, shape, input.layout);
    if (output.num_elements() == 0) return;
    if (in_length == 0)
      throw std::invalid_argument("the input must have samples (got none for an output of " +
                                  std::to_string(length) + "). Leave it out.");

    const int64_t margin = filter_.margin();
    const int64_t extent = in_length + 2 * margin;
    float* const signal =
        sample.scratch<float>(kSignalSlot, static_cast<size_t>(checked_sum(extent, length)));
    float* const result = signal + extent;
    std::fill_n(signal, extent, 0.0f);
    for (int64_t channel = 0; channel < channels; ++channel) {
      visit_sample_type(input.type, "the input", [&](auto zero) {
        const auto* const in = input.as<decltype(zero)>() + channel;
        for (int64_t i = 0; i < in_length; ++i)
          signal[margin + i] = to_normalized(in[i * channels], is_unsigned(type));
      });
      if (type == DataType::kFloat) {
        resample(filter_, ratio, signal + margin, length, output.as<float>() + channel, channels);
        continue;
      }
      resample(filter_, ratio, signal + margin, length, result, 1);
      visit_sample_type(type, "dtype", [&](auto zero) {
        using T = decltype(zero);
        T* const out = output.as<T>() + channel;
        for (int64_t i = 0; i < length; ++i) out[i * channels] = from_normalized<T>(result[i]);
      });
    }
  }

 private:
  RateRatio ratio_for(const SampleContext& sample, int64_t in_length, int64_t& length) const {
    if (out_length_.given()) {
      length = checked_extent(out_length_.at(sample), "out_length");
      return {static_cast<double>(in_length), static_cast<double>(length)};
    }
    const RateRatio ratio = scale_.given() ? RateRatio{1, scale_.at(sample)}
                                           : RateRatio{in_rate_.at(sample), out_rate_.at(sample)};
    length = ratio.output_length(in_length);
    return ratio;
  }

  Argument<float> in_rate_, out_rate_, scale_;
  Argument<int64_t> out_length_;
  DataType type_;
  SincFilter filter_;
};

DALI_CORE_REGISTER_OPERATOR("audio_resample", AudioResample)

}  // namespace dali_core
