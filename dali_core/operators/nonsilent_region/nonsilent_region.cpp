#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "dali_core/operator.hpp"

namespace dali_core {
namespace {

// Sums of squares of a sliding window, each given to `use` with the index of its first sample. A
// double holds squares of integers of 16 bits, and of their sums, exactly.
template <typename T, typename Use>
void slide_window(const T* signal, int64_t count, int64_t window, int64_t reset, Use&& use) {
  const auto square = [&](int64_t i) {
    const double value = static_cast<double>(signal[i]);
    return value * value;
  };
  double sum = 0;
  int64_t next_reset = 0;
  for (int64_t first = 0; first + window <= count; ++first) {
    if (first == next_reset) {
      sum = 0;
      for (int64_t i = first; i < first + window; ++i) sum += square(i);
      next_reset = reset > 0 ? first + reset : -1;
    } else {
      sum += square(first + window - 1) - square(first - 1);
    }
    use(first, std::max(sum, 0.0) / static_cast<double>(window));
  }
}

[[noreturn]] void refuse_type(DataType type) {
  throw std::invalid_argument("the input must consist of integers or of float32 (got " +
                              std::string(name_of(type)) + "). Use fn.cast.");
}

}  // namespace

class NonsilentRegion : public Operator {
 public:
  explicit NonsilentRegion(const OperatorConfig& config)
      : window_(config.get<int64_t>("window_length")),
        reset_(config.get<int64_t>("reset_interval")),
        ratio_(std::pow(10, config.get<float>("cutoff_db") / 10)),
        reference_(config.get<float>("reference_power")) {
    if (reset_ != -1 && reset_ < 1)
      throw std::invalid_argument("reset_interval must be -1 or positive (got " +
                                  std::to_string(reset_) + ").");
  }

  void run(SampleContext& sample) const override {
    const Tensor& signal = sample.input(0);
    const int64_t count = signal.num_elements();
    if (signal.shape.ndim != 1 || count > std::numeric_limits<int32_t>::max())
      throw std::invalid_argument(
          "the input must have one dimension of less than 2 ** 31 samples (got shape " +
          to_string(signal.shape) + "). Decode with downmix=True, or use fn.squeeze.");
    int32_t* const begin = sample.output(0, DataType::kInt32, {}).as<int32_t>();
    int32_t* const length = sample.output(1, DataType::kInt32, {}).as<int32_t>();
    *begin = *length = 0;
    visit_type(signal.type, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, Half> || std::is_same_v<T, double>)
        refuse_type(signal.type);
      else
        find(signal.as<T>(), count, *begin, *length);
    });
  }

 private:
  template <typename T>
  void find(const T* signal, int64_t count, int32_t& begin, int32_t& length) const {
    if (std::is_same_v<T, float> && reset_ > 0 && reset_ % window_ != 0)
      throw std::invalid_argument("reset_interval must be a multiple of window_length (got " +
                                  std::to_string(reset_) + " and " + std::to_string(window_) +
                                  "). Set both.");
    if (count == 0) return;
    const int64_t window = std::min(window_, count);
    double least = reference_;
    if (reference_ == 0) {
      slide_window(signal, count, window, reset_,
                   [&](int64_t, double power) { least = std::max(least, power); });
    }
    least *= ratio_;
    int64_t first = -1, last = -1;
    slide_window(signal, count, window, reset_, [&](int64_t place, double power) {
      if (!(power >= least)) return;
      if (first < 0) first = place;
      last = place;
    });
    if (first < 0) return;
    begin = static_cast<int32_t>(first);
    length = static_cast<int32_t>(last + window - first);
  }

  int64_t window_, reset_;
  double ratio_, reference_;
};

DALI_CORE_REGISTER_OPERATOR("nonsilent_region", NonsilentRegion)

}  // namespace dali_core
