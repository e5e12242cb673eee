#include "dali_core/kernels/random/shot_noise.hpp"

#include <array>

#include "dali_core/kernels/random/noise_type.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

template <typename T>
T counted(double number, double factor) {
  // Through float where that is what the elements are worth: C libraries may differ in the last
  // bit of a double's logarithm.
  if constexpr (std::is_same_v<T, double> || (sizeof(T) > 2 && !is_floating<T>))
    return convert<T>(number * factor);
  else
    return convert<T>(static_cast<float>(number * factor));
}

template <typename T>
void count_events(const T* in, T* out, int64_t count, double factor, RandomStream& random) {
  for (int64_t i = 0; i < count; ++i) {
    const double mean = convert<double>(in[i]) / factor;
    if (!(mean > 0)) {
      out[i] = T{};
    } else if (std::isinf(mean)) {
      out[i] = in[i];
    } else {
      const double none = mean < kLargestMeanForInversion ? std::exp(-mean) : 0;
      out[i] = counted<T>(poisson(mean, none, random), factor);
    }
  }
}

// Bytes have 256 means at most.
void count_events(const uint8_t* in, uint8_t* out, int64_t count, double factor,
                  RandomStream& random) {
  std::array<double, 256> none;
  for (int level = 0; level < 256; ++level) none[level] = std::exp(-level / factor);
  for (int64_t i = 0; i < count; ++i) {
    const double mean = in[i] / factor;
    out[i] = mean > 0 && !std::isinf(mean)
                 ? counted<uint8_t>(poisson(mean, none[in[i]], random), factor)
                 : uint8_t{0};
  }
}

}  // namespace

class ShotNoise : public Operator {
 public:
  explicit ShotNoise(const OperatorConfig& config)
      : factor_(config, "factor"), seed_(config.seed) {}

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const double factor = factor_.at(sample);
    visit_numeric_type(input.type, [&](auto zero) {
      using T = decltype(zero);
      if (factor == 0) {
        sample.forward(0, input);
        return;
      }
      Tensor& output = sample.output(0, input.type, input.shape, input.layout);
      RandomStream random = sample.random(seed_);
      count_events(input.as<T>(), output.as<T>(), input.num_elements(), factor, random);
    });
  }

 private:
  Argument<float> factor_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_OPERATOR("noise.shot", ShotNoise)

}  // namespace dali_core
