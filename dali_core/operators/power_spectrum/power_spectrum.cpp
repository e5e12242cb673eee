#include <memory>
#include <string>

#include "dali_core/kernels/audio/audio_inputs.hpp"
#include "dali_core/kernels/audio/spectrogram.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

// Where the size is that of each sample, a thread keeps the last one's.
const RealTransform& transform_of(int64_t size) {
  static thread_local std::unique_ptr<const RealTransform> last;
  if (!last || last->size != size) last = std::make_unique<const RealTransform>(size);
  return *last;
}

}  // namespace

class PowerSpectrum : public Operator {
 public:
  explicit PowerSpectrum(const OperatorConfig& config)
      : axis_(config.get<int64_t>("axis")), is_amplitude_(config.get<int64_t>("power") == 1) {
    if (config.has("nfft"))
      transform_ = std::make_unique<const RealTransform>(config.get<int64_t>("nfft"));
  }

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    check_float(input);
    const int axis = checked_axis(axis_, input.shape, true);
    const int64_t extent = input.shape[axis];
    if (extent < 1 || extent > kMaxTransform)
      throw std::invalid_argument("signals must have 1 to " + std::to_string(kMaxTransform) +
                                  " samples (got shape " + to_string(input.shape) +
                                  "). Select or pad them.");
    const RealTransform& transform = transform_ ? *transform_ : transform_of(extent);
    Shape shape = input.shape;
    shape[axis] = transform.num_bins();
    Tensor& output = sample.output(0, DataType::kFloat, shape, input.layout);
    if (input.num_elements() == 0) return;
    const AroundAxis around(input.shape, axis);
    const PowerRows rows{around.outer, around.inner, around.extent, is_amplitude_};
    compute_power_spectra(
        transform, rows, input.as<float>(), output.as<float>(),
        sample.scratch<float>(0, static_cast<size_t>(num_floats(transform, rows))));
  }

 private:
  int64_t axis_;
  bool is_amplitude_;
  std::unique_ptr<const RealTransform> transform_;
};

DALI_CORE_REGISTER_OPERATOR("power_spectrum", PowerSpectrum)

}  // namespace dali_core
