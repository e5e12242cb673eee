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

// A mask of the bytes of a pixel that stay, and the value of the others.
struct ReplacedPixel {
  uint32_t kept;
  uint32_t value;

  ReplacedPixel() = default;
  inline __device__ ReplacedPixel(const SaltAndPepperTask& task, Grain grain) {
    kept = grain == Grain::kNone ? 0xffffffffu : 0;
    const uint64_t byte = grain == Grain::kSalt ? task.salt : task.pepper;
    value = static_cast<uint32_t>(byte & 255) * 0x01010101u & ~kept;
  }
};

// A word of two pixels, as many bytes of each as kOrder, a selector of __byte_perm, says.
template <uint32_t kOrder>
inline __device__ uint32_t replaced_word(uint32_t word, const ReplacedPixel& first,
                                         const ReplacedPixel& second) {
  return (word & __byte_perm(first.kept, second.kept, kOrder)) |
         __byte_perm(first.value, second.value, kOrder);
}

// Four pixels of three bytes, which are aligned words.
inline __device__ void replace_rgb_bytes(const SaltAndPepperTask& task, const Grain (&grains)[4],
                                         int64_t first) {
  const uint32_t* const in =
      reinterpret_cast<const uint32_t*>(static_cast<const char*>(task.in) + 3 * first);
  uint32_t* const out = reinterpret_cast<uint32_t*>(static_cast<char*>(task.out) + 3 * first);
  const uint32_t words[3] = {in[0], in[1], in[2]};
  ReplacedPixel pixels[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) pixels[i] = ReplacedPixel(task, grains[i]);
  out[0] = replaced_word<0x4000>(words[0], pixels[0], pixels[1]);
  out[1] = replaced_word<0x4400>(words[1], pixels[1], pixels[2]);
  out[2] = replaced_word<0x4440>(words[2], pixels[2], pixels[3]);
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

__device__ __noinline__ void replace_pixel(const SaltAndPepperTask& task, Grain grain,
                                           int64_t first) {
  switch (task.bytes) {
    case 1:
      return replace_pixel<uint8_t>(task, grain, first);
    case 2:
      return replace_pixel<uint16_t>(task, grain, first);
    case 4:
      return replace_pixel<uint32_t>(task, grain, first);
    default:
      return replace_pixel<uint64_t>(task, grain, first);
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
  const bool is_rgb = task.bytes == 1 && task.num_inner == 1 && task.num_channels == 3 &&
                      reinterpret_cast<uintptr_t>(task.in) % 4 == 0 &&
                      reinterpret_cast<uintptr_t>(task.out) % 4 == 0;
  // Four pixels have one block of random bits.
  for (int64_t block = first_item(); 4 * block < task.pixels; block += item_step()) {
    const PhiloxBlock bits = draw_block(task.seed, task.key, static_cast<uint32_t>(block));
    Grain grains[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
      grains[i] = draw_grain(uniform_float(bits[i]), task.probability_of_salt, task.probability);
    if (is_rgb && 4 * block + 4 <= task.pixels) {
      replace_rgb_bytes(task, grains, 4 * block);
      continue;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int64_t pixel = 4 * block + i;
      if (pixel >= task.pixels) break;
      const int64_t outer = quotient(pixel, task.num_inner);
      const int64_t first = outer * (task.num_channels - 1) * task.num_inner + pixel;
      replace_pixel(task, grains[i], first);
    }
  }
}
