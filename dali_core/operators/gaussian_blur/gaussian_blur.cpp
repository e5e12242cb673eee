// fn.gaussian_blur: windows and their weights.
#include <cmath>
#include <cstdint>

#include "dali_core/kernels/convolution/per_axis_argument.hpp"
#include "dali_core/kernels/convolution/separable_device.hpp"

namespace dali_core {

// Three standard deviations on both sides.
inline int64_t gaussian_window_size(float sigma) {
  return 2 * static_cast<int64_t>(std::ceil(3 * sigma)) + 1;
}

inline float gaussian_sigma(int64_t window_size) {
  return (static_cast<float>(window_size - 1) * 0.5f - 1) * 0.3f + 0.8f;
}

// The weight at a distance from the middle, before weights are scaled to sum to 1.
inline double gaussian_weight(int64_t distance, float sigma) {
  const double x = static_cast<double>(distance) / sigma;
  return std::exp(-0.5 * x * x);
}

namespace {

constexpr int64_t kLargestWindow = 1 << 20;

void check(float sigma, int64_t window_size) {
  if (window_size != 0 && (window_size < 0 || window_size % 2 == 0))
    throw std::invalid_argument("window_size must be odd and positive, or 0 (got " +
                                std::to_string(window_size) + "). Pass an odd number.");
  if (sigma == 0 && window_size == 0)
    throw std::invalid_argument(
        "sigma or window_size must be given for each data axis (got 0 for both). Pass one of "
        "them.");
  if (window_size > kLargestWindow || (window_size == 0 && sigma > kLargestWindow / 6 - 1))
    throw std::invalid_argument("the window must have at most " + std::to_string(kLargestWindow) +
                                " pixels (got window_size " + std::to_string(window_size) +
                                ", sigma " + std::to_string(sigma) + "). Shrink the images first.");
}

std::vector<float> gaussian_window(float sigma, int64_t window_size) {
  check(sigma, window_size);
  if (window_size == 0) window_size = gaussian_window_size(sigma);
  if (sigma == 0) sigma = gaussian_sigma(window_size);
  std::vector<double> exact(window_size);
  double sum = 0;
  for (int64_t i = 0; i < window_size; ++i)
    sum += exact[i] = gaussian_weight(i - window_size / 2, sigma);
  std::vector<float> window(window_size);
  for (int64_t i = 0; i < window_size; ++i) window[i] = static_cast<float>(exact[i] / sum);
  return window;
}

}  // namespace

class GaussianBlur : public SeparableOperator<GaussianBlur> {
 public:
  explicit GaussianBlur(const OperatorConfig& config)
      : SeparableOperator(config), sigma_(config, "sigma"), window_size_(config, "window_size") {
    for (const int64_t window_size : window_size_.constant()) check(1, window_size);
    const bool is_constant = config.tensor_arguments.empty();
    if (is_constant && sigma_.constant().size() == 1 && window_size_.constant().size() == 1)
      check(sigma_.constant()[0], window_size_.constant()[0]);
  }

  bool is_per_frame(const SampleContext& sample) const {
    return sigma_.is_per_frame(sample) || window_size_.is_per_frame(sample);
  }

  std::vector<SeparableWindow> find(const SampleContext& sample, const DataAxes& axes,
                                    int64_t frame) const {
    const auto sigma = sigma_.at(sample, axes.num_axes, axes.num_frames, frame);
    const auto window_size = window_size_.at(sample, axes.num_axes, axes.num_frames, frame);
    SeparableWindow window;
    for (int i = 0; i < axes.num_axes; ++i)
      window.along[3 - axes.num_axes + i] = gaussian_window(sigma[i], window_size[i]);
    return {window};
  }

 private:
  PerAxisArgument<float> sigma_;
  PerAxisArgument<int64_t> window_size_;
};

DALI_CORE_REGISTER_OPERATOR("gaussian_blur", GaussianBlur)

}  // namespace dali_core
