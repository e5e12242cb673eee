// fn.noise.salt_and_pepper.
#include <cstring>
#include <limits>

#include "dali_core/geometry.hpp"
#include "dali_core/kernels/fill/fill_value.hpp"
#include "dali_core/kernels/random/noise_type.hpp"
#include "dali_core/operator.hpp"

namespace dali_core {

enum class Grain { kNone, kSalt, kPepper };

// `uniform` is a random number in [0, 1).
inline Grain draw_grain(float uniform, float probability_of_salt, float probability) {
  return uniform < probability_of_salt ? Grain::kSalt
         : uniform < probability       ? Grain::kPepper
                                       : Grain::kNone;
}

namespace {

// Pixels in the order of the data, and how far apart their channels are.
struct PixelOrder {
  int64_t num_outer;  // over all dimensions before the channels
  int64_t num_channels;
  int64_t num_inner;  // over all dimensions after the channels
};

PixelOrder pixel_order(const Tensor& image, bool per_channel) {
  const int ndim = image.shape.ndim;
  int axis = image.layout.empty() ? ndim - 1 : image.layout.find('C');
  if (per_channel || axis >= ndim) axis = -1;
  PixelOrder order = {1, axis < 0 ? 1 : image.shape[axis], 1};
  for (int i = 0; i < ndim; ++i)
    if (i != axis) (i < axis ? order.num_outer : order.num_inner) *= image.shape[i];
  return order;
}

template <typename T>
T default_salt() {
  if constexpr (is_floating<T>)
    return convert<T>(1.0f);
  else
    return std::numeric_limits<T>::max();
}

template <typename T>
T default_pepper() {
  if constexpr (is_floating<T>)
    return convert<T>(-1.0f);
  else
    return std::numeric_limits<T>::min();
}

}  // namespace

class SaltAndPepper : public Operator {
 public:
  explicit SaltAndPepper(const OperatorConfig& config)
      : probability_(config, "prob"),
        salt_share_(config, "salt_vs_pepper"),
        salt_(config, "salt_val"),
        pepper_(config, "pepper_val"),
        per_channel_(config.get<bool>("per_channel")),
        seed_(config.seed) {}

  void run(SampleContext& sample) const override {
    const Tensor& image = sample.input(0);
    const float probability = probability_.at(sample);
    const float salt_share = salt_share_.at(sample);
    visit_numeric_type(image.type, [&](auto zero) {
      using T = decltype(zero);
      const T salt = salt_.given() ? fill_value<T>(salt_.at(sample)) : default_salt<T>();
      const T pepper = pepper_.given() ? fill_value<T>(pepper_.at(sample)) : default_pepper<T>();
      Tensor& output = sample.output(0, image.type, image.shape, image.layout);
      if (image.num_elements() == 0) return;
      std::memcpy(output.data, image.data, static_cast<size_t>(image.num_bytes()));
      RandomStream random = sample.random(seed_);
      const PixelOrder order = pixel_order(image, per_channel_);
      const auto replace = [&](T* pixel) {
        const Grain grain = draw_grain(random.next_float(), probability * salt_share, probability);
        if (grain == Grain::kNone) return;
        const T value = grain == Grain::kSalt ? salt : pepper;
        for (int64_t c = 0; c < order.num_channels; ++c) pixel[c * order.num_inner] = value;
      };
      T* const pixels = output.as<T>();
      for (int64_t outer = 0; outer < order.num_outer; ++outer)
        for (int64_t inner = 0; inner < order.num_inner; ++inner)
          replace(pixels + outer * order.num_channels * order.num_inner + inner);
    });
  }

 private:
  Argument<float> probability_, salt_share_, salt_, pepper_;
  bool per_channel_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_OPERATOR("noise.salt_and_pepper", SaltAndPepper)

}  // namespace dali_core
