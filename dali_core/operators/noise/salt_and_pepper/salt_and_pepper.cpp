// fn.noise.salt_and_pepper.
#include <cstring>
#include <limits>

#include "dali_core/element_groups.hpp"
#include "dali_core/geometry.hpp"
#include "dali_core/kernels/fill/fill_value.hpp"
#include "dali_core/kernels/random/noise_tasks.hpp"
#include "dali_core/kernels/random/noise_type.hpp"
#include "dali_core/kernels/tasks/task_operator.hpp"

namespace dali_core {

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

class SaltAndPepper : public KernelOperator<SaltAndPepper, SaltAndPepperTask> {
 public:
  static constexpr auto kKernel = "add_salt_and_pepper";

  explicit SaltAndPepper(const OperatorConfig& config)
      : probability_(config, "prob"),
        salt_share_(config, "salt_vs_pepper"),
        salt_(config, "salt_val"),
        pepper_(config, "pepper_val"),
        per_channel_(config.get<bool>("per_channel")),
        seed_(config.seed) {}

  static Inferred infer(const SampleContext& sample) {
    const Tensor& image = sample.input(0);
    visit_numeric_type(image.type, [](auto) {});
    return {image.type, image.shape, image.layout};
  }

  SaltAndPepperTask task(const Inferred&, TaskData& data) const {
    const Tensor image = data.input();
    const SampleContext& sample = data.sample();
    const PixelOrder order = pixel_order(image, per_channel_);
    const float probability = probability_.at(sample);
    SaltAndPepperTask task{image.data,
                           data.output().data,
                           order.num_outer * order.num_inner,
                           order.num_channels,
                           order.num_inner,
                           size_of(image.type),
                           0,
                           0,
                           probability * salt_share_.at(sample),
                           probability,
                           seed_,
                           sample.key()};
    visit_numeric_type(image.type, [&](auto zero) {
      using T = decltype(zero);
      const T salt = salt_.given() ? fill_value<T>(salt_.at(sample)) : default_salt<T>();
      const T pepper = pepper_.given() ? fill_value<T>(pepper_.at(sample)) : default_pepper<T>();
      std::memcpy(&task.salt, &salt, sizeof salt);
      std::memcpy(&task.pepper, &pepper, sizeof pepper);
    });
    return task;
  }

  static int64_t threads_for(const SaltAndPepperTask& task) { return (task.pixels + 3) / 4; }

  static void compute(const SaltAndPepperTask& task) {
    std::memcpy(task.out, task.in,
                static_cast<size_t>(task.pixels * task.num_channels * task.bytes));
    RandomStream random(task.seed, task.key);
    for (int64_t pixel = 0; pixel < task.pixels; ++pixel) {
      const Grain grain =
          draw_grain(random.next_float(), task.probability_of_salt, task.probability);
      if (grain == Grain::kNone) continue;
      const int64_t outer = pixel / task.num_inner;
      const int64_t first = outer * (task.num_channels - 1) * task.num_inner + pixel;
      for (int64_t c = 0; c < task.num_channels; ++c)
        store_bits(task.out, first + c * task.num_inner, task.bytes,
                   grain == Grain::kSalt ? task.salt : task.pepper);
    }
  }

 private:
  Argument<float> probability_, salt_share_, salt_, pepper_;
  bool per_channel_;
  uint64_t seed_;
};

DALI_CORE_REGISTER_OPERATOR("noise.salt_and_pepper", SaltAndPepper)

}  // namespace dali_core
