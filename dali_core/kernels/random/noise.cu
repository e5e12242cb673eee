// Adds noise, each number of it from the draws that it has on the host.
#include "dali_core/device_kernel.hpp"
#include "dali_core/kernels/random/gaussian_noise.hpp"
#include "dali_core/kernels/random/noise_tasks.hpp"

namespace dali_core {

__device__ __noinline__ PhiloxBlock draw_block(uint64_t seed, SampleKey key, uint32_t number) {
  RandomStream random(seed, key);
  random.seek(4 * number);
  PhiloxBlock block;
#pragma unroll
  for (int i = 0; i < 4; ++i) block[i] = random.next_uint32();
  return block;
}

template <typename T>
__device__ void add_normals(const GaussianNoiseTask& task, int64_t first, const float* normals) {
  // Numbers of 32 bits and more would lose digits as float.
  using Number = std::conditional_t<(sizeof(T) > 2 && !std::is_same_v<T, float>), double, float>;
#pragma unroll 1
  for (int i = 0; i < 4; ++i) {
    const int64_t number = first + i * kDraws;
    if (number >= task.count) return;
    const Number element = convert<Number>(static_cast<const T*>(task.in)[number]);
    static_cast<T*>(task.out)[number] =
        convert<T>(with_noise(element, normals[i], task.mean, task.stddev));
  }
}

template <typename T>
__device__ void replace_pixel(const SaltAndPepperTask& task, Grain grain, int64_t first) {
  const T value = static_cast<T>(grain == Grain::kSalt ? task.salt : task.pepper);
#pragma unroll 1
  for (int64_t c = 0; c < task.num_channels; ++c) {
    const int64_t place = first + c * task.num_inner;
    static_cast<T*>(task.out)[place] =
        grain == Grain::kNone ? static_cast<const T*>(task.in)[place] : value;
  }
}

}  // namespace dali_core

extern "C" __global__ void add_gaussian_noise(const dali_core::GaussianNoiseTask* tasks,
                                              int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const GaussianNoiseTask& task = tasks[sample_of_block()];
  const int64_t draws = (task.count + kNormalsInBlock - 1) / kNormalsInBlock * kDraws;
  for (int64_t draw = first_item(); draw < draws; draw += item_step()) {
    const PhiloxBlock bits = draw_block(task.seed, task.key, static_cast<uint32_t>(draw));
    float normals[4];
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
      const NormalFloats made = normal_floats(bits[2 * pair], bits[2 * pair + 1]);
      normals[2 * pair] = made.first;
      normals[2 * pair + 1] = made.second;
    }
    const int64_t first = draw / kDraws * kNormalsInBlock + draw % kDraws;
    with_type(task.type, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (!std::is_same_v<T, bool>) add_normals<T>(task, first, normals);
    });
  }
}

extern "C" __global__ void add_salt_and_pepper(const dali_core::SaltAndPepperTask* tasks,
                                               int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const SaltAndPepperTask& task = tasks[sample_of_block()];
  for (int64_t pixel = first_item(); pixel < task.pixels; pixel += item_step()) {
    RandomStream random(task.seed, task.key);
    random.seek(static_cast<uint32_t>(pixel));
    const Grain grain = draw_grain(random.next_float(), task.probability_of_salt, task.probability);
    const int64_t outer = quotient(pixel, task.num_inner);
    const int64_t first = outer * (task.num_channels - 1) * task.num_inner + pixel;
    switch (task.bytes) {
      case 1:
        replace_pixel<uint8_t>(task, grain, first);
        break;
      case 2:
        replace_pixel<uint16_t>(task, grain, first);
        break;
      case 4:
        replace_pixel<uint32_t>(task, grain, first);
        break;
      default:
        replace_pixel<uint64_t>(task, grain, first);
    }
  }
}
