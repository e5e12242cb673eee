#include "dali_core/operator.hpp"

namespace dali_core {

class RandomMaskPixel : public Operator {
 public:
  explicit RandomMaskPixel(const OperatorConfig& config)
      : foreground_(config, "foreground"),
        threshold_(config, "threshold"),
        value_(config, "value"),
        seed_(config.seed) {}

  void run(SampleContext& sample) const override {
    const Tensor& mask = sample.input(0);
    const int64_t count = mask.num_elements();
    if (count == 0 || mask.shape.ndim == 0)
      throw std::invalid_argument("the mask must have dimensions and elements (got shape " +
                                  to_string(mask.shape) + "). Leave empty masks out.");
    RandomStream random = sample.random(seed_);
    const double draw = random.next_double();
    int64_t chosen = -1;
    if (foreground_.at(sample) != 0)
      visit_type(mask.type, [&](auto zero) {
        chosen = choose(mask.as<decltype(zero)>(), count, draw, sample);
      });
    if (chosen < 0) chosen = static_cast<int64_t>(draw * static_cast<double>(count));
    int64_t* const position = sample.output(0, DataType::kInt64, {mask.shape.ndim}).as<int64_t>();
    for (int dim = mask.shape.ndim - 1; dim >= 0; --dim) {
      position[dim] = chosen % mask.shape[dim];
      chosen /= mask.shape[dim];
    }
  }

 private:
  // An element of the foreground, or -1.
  template <typename T>
  int64_t choose(const T* mask, int64_t count, double draw, const SampleContext& sample) const {
    if (value_.given()) {
      const int64_t value = value_.at(sample);
      return choose_where(count, draw, [=](int64_t i) {
        if constexpr (is_floating<T>)
          return convert<double>(mask[i]) == static_cast<double>(value);
        else
          return convert<int64_t>(mask[i]) == value;
      });
    }
    const double threshold = threshold_.at(sample);
    return choose_where(count, draw,
                        [=](int64_t i) { return convert<double>(mask[i]) > threshold; });
  }

  template <typename IsForeground>
  static int64_t choose_where(int64_t count, double draw, IsForeground is_foreground) {
    int64_t found = 0;
    for (int64_t i = 0; i < count; ++i) found += is_foreground(i);
    auto left = static_cast<int64_t>(draw * static_cast<double>(found));
    for (int64_t i = 0; i < count; ++i)
      if (is_foreground(i) && left-- == 0) return i;
    return -1;
  }

  Argument<int> foreground_;
  Argument<float> threshold_;
  Argument<int64_t> value_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_OPERATOR("segmentation.random_mask_pixel", RandomMaskPixel)

}  // namespace dali_core
