// fn.laplacian: windows of smoothing and of the second derivative.
#include <cmath>
#include <cstdint>

#include "dali_core/kernels/convolution/per_axis_argument.hpp"
#include "dali_core/kernels/convolution/separable_device.hpp"

namespace dali_core {

constexpr int kLargestLaplacianWindow = 31;

// The binomial coefficient "size - 1 over place", 0 outside. Exact for the sizes there are.
inline double smoothing_weight(int place, int size) {
  if (place < 0 || place >= size) return 0;
  double weight = 1;
  for (int i = 0; i < place; ++i) weight = weight * (size - 1 - i) / (i + 1);
  return weight;
}

// Of the window "1 -2 1", convolved with a smoothing window up to the size.
inline double derivative_weight(int place, int size) {
  return smoothing_weight(place, size - 2) - 2 * smoothing_weight(place - 1, size - 2) +
         smoothing_weight(place - 2, size - 2);
}

namespace {

void check(const char* name, int64_t size, int smallest) {
  if (size < smallest || size > kLargestLaplacianWindow || size % 2 == 0)
    throw std::invalid_argument(std::string(name) + " must be odd and from " +
                                std::to_string(smallest) + " to " +
                                std::to_string(kLargestLaplacianWindow) + " (got " +
                                std::to_string(size) + "). Pass such an extent.");
}

std::vector<float> derivative_window(int64_t size, double scale) {
  std::vector<float> window(size);
  for (int i = 0; i < size; ++i) window[i] = static_cast<float>(derivative_weight(i, size) * scale);
  return window;
}

std::vector<float> smoothing_window(int64_t size) {
  std::vector<float> window(size);
  for (int i = 0; i < size; ++i) window[i] = static_cast<float>(smoothing_weight(i, size));
  return window;
}

}  // namespace

class Laplacian : public SeparableOperator<Laplacian> {
 public:
  explicit Laplacian(const OperatorConfig& config)
      : SeparableOperator(config),
        window_size_(config, "window_size"),
        smoothing_size_(config, "smoothing_size"),
        scale_(config, "scale"),
        normalized_(config.get<bool>("normalized_kernel")) {
    if (normalized_ && scale_.given())
      throw std::invalid_argument(
          "scale must be left out where normalized_kernel sets it (got both). Remove one.");
    for (const int64_t size : window_size_.constant()) check("window_size", size, 3);
    for (const int64_t size : smoothing_size_.constant()) check("smoothing_size", size, 1);
  }

  bool is_per_frame(const SampleContext& sample) const {
    return window_size_.is_per_frame(sample) || smoothing_size_.is_per_frame(sample) ||
           scale_.is_per_frame(sample);
  }

  // One window for the derivative along each axis.
  std::vector<SeparableWindow> find(const SampleContext& sample, const DataAxes& axes,
                                    int64_t frame) const {
    const int n = axes.num_axes;
    const auto sizes = window_size_.at(sample, n, axes.num_frames, frame);
    for (const int64_t size : sizes) check("window_size", size, 3);
    std::vector<int64_t> smoothing_sizes;
    if (smoothing_size_.given()) {
      smoothing_sizes = smoothing_size_.at(sample, n, axes.num_frames, frame);
      for (const int64_t size : smoothing_sizes) check("smoothing_size", size, 1);
    }
    std::vector<float> scales(n, 1);
    if (scale_.given()) scales = scale_.at(sample, n, axes.num_frames, frame);
    std::vector<SeparableWindow> windows(n);
    for (int derived = 0; derived < n; ++derived) {
      int64_t sum_of_sizes = sizes[derived];
      for (int i = 0; i < n; ++i) {
        if (i == derived) continue;
        const int64_t size = smoothing_sizes.empty() ? sizes[derived] : smoothing_sizes[i];
        sum_of_sizes += size;
        windows[derived].along[3 - n + i] = smoothing_window(size);
      }
      const double scale = normalized_ ? std::exp2(static_cast<double>(n + 2 - sum_of_sizes))
                                       : static_cast<double>(scales[derived]);
      windows[derived].along[3 - n + derived] = derivative_window(sizes[derived], scale);
    }
    return windows;
  }

 private:
  PerAxisArgument<int64_t> window_size_, smoothing_size_;
  PerAxisArgument<float> scale_;
  bool normalized_;
};

DALI_CORE_REGISTER_OPERATOR("laplacian", Laplacian)

}  // namespace dali_core
