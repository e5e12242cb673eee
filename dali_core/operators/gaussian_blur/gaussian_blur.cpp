// fn.gaussian_blur: windows and their weights (host loops and device kernels share this).
#include <cmath>
#include <cstdint>

#include "dali_core/kernels/convolution/convolution.hpp"
#include "dali_core/kernels/convolution/per_axis_argument.hpp"

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

class GaussianBlur : public Operator {
 public:
  explicit GaussianBlur(const OperatorConfig& config)
      : sigma_(config, "sigma"),
        window_size_(config, "window_size"),
        dtype_(config.get_or<DataType>("dtype", DataType::kNone)) {
    for (const int64_t window_size : window_size_.constant()) check(1, window_size);
    const bool is_constant = config.tensor_arguments.empty();
    if (is_constant && sigma_.constant().size() == 1 && window_size_.constant().size() == 1)
      check(sigma_.constant()[0], window_size_.constant()[0]);
  }

  void run(SampleContext& sample) const override {
    const Tensor& input = sample.input(0);
    const DataAxes axes = data_axes(input);
    const DataType type = convolved_type(dtype_, input.type);
    Tensor& output = sample.output(0, type, input.shape, input.layout);
    std::vector<SeparableWindow> windows(1);
    const int64_t size = axes.plane_size();
    for (int64_t plane = 0; plane < axes.num_planes; ++plane) {
      if (plane == 0 || sigma_.is_per_frame(sample) || window_size_.is_per_frame(sample))
        windows[0] = window_of(sample, axes, axes.frame_of(plane));
      const ConvolvedPlane where = {input.as<uint8_t>() + plane * size * size_of(input.type),
                                    input.type, output.as<uint8_t>() + plane * size * size_of(type),
                                    type};
      convolve_separable(sample, where, axes, windows);
    }
  }

 private:
  SeparableWindow window_of(const SampleContext& sample, const DataAxes& axes,
                            int64_t frame) const {
    const auto sigma = sigma_.at(sample, axes.num_axes, axes.num_frames, frame);
    const auto window_size = window_size_.at(sample, axes.num_axes, axes.num_frames, frame);
    SeparableWindow window;
    for (int i = 0; i < axes.num_axes; ++i)
      window.along[3 - axes.num_axes + i] = gaussian_window(sigma[i], window_size[i]);
    return window;
  }

  PerAxisArgument<float> sigma_;
  PerAxisArgument<int64_t> window_size_;
  DataType dtype_;
};

DALI_CORE_REGISTER_OPERATOR("gaussian_blur", GaussianBlur)

}  // namespace dali_core
