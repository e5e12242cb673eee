// Equalizes histograms in three steps: count, find what levels become, and map pixels.
#include "dali_core/kernels/histogram/equalize.hpp"

#include "dali_core/device_groups.hpp"

namespace dali_core {

// Threads of a block that counts or finds levels: one a level.
constexpr int kLevelThreads = kNumLevels;

// Bytes in words, of groups in which the channels of one and of three bytes repeat. What is ahead
// of the groups and behind them goes byte by byte.
struct RepeatedBytes {
  int64_t ahead;
  int64_t groups;
  int64_t others;

  inline __device__ RepeatedBytes(const void* begin, int64_t bytes) {
    ahead = min((kGroup - group_lead(begin, 1)) % kGroup, bytes);
    groups = (bytes - ahead) / kRepeatedBytes;
    others = bytes - groups * kRepeatedBytes;
  }

  // Byte `number` of those in no group.
  inline __device__ int64_t other(int64_t number) const {
    return number < ahead ? number : number + groups * kRepeatedBytes;
  }
};

inline __device__ void load_group(const uint8_t* from, uint32_t (&words)[kRepeatedBytes / 4]) {
#pragma unroll
  for (int i = 0; i < kRepeatedBytes / 4; ++i)
    words[i] = reinterpret_cast<const uint32_t*>(from)[i];
}

// Counts the bytes of whole pixels.
template <int kChannels>
inline __device__ void count_bytes(const uint8_t* bytes, int64_t count,
                                   uint32_t (*counts)[kNumLevels]) {
  const RepeatedBytes repeated(bytes, count);
  for (int64_t i = threadIdx.x; i < repeated.others; i += kLevelThreads) {
    const int64_t number = repeated.other(i);
    atomicAdd(&counts[number % kChannels][bytes[number]], 1u);
  }
  uint32_t* of_channels[kChannels];
#pragma unroll
  for (int c = 0; c < kChannels; ++c) of_channels[c] = counts[(repeated.ahead + c) % kChannels];
  const uint8_t* const grouped = bytes + repeated.ahead;
  for (int64_t group = threadIdx.x; group < repeated.groups; group += kLevelThreads) {
    uint32_t words[kRepeatedBytes / 4];
    load_group(grouped + group * kRepeatedBytes, words);
#pragma unroll
    for (int i = 0; i < kRepeatedBytes; ++i)
      atomicAdd(of_channels[i % kChannels] + byte_of(words, i), 1u);
  }
}

// Maps the bytes of images, 16 of them a thread, whose levels lie in shared memory.
template <int kChannels>
inline __device__ void map_bytes(const EqualizeTask& task, uint8_t (*levels)[kNumLevels]) {
  constexpr int kBytes = 4 * kGroup;
  const int64_t size = task.image_size.divisor;
  const ByteRange memory(task.input, task.num_elements());
  for (int64_t image = 0; image < task.num_images; ++image) {
    const uint8_t* const of_image = task.levels + image * kChannels * kNumLevels;
    __syncthreads();
    for (int i = threadIdx.x; i < kChannels * kNumLevels; i += blockDim.x)
      levels[i / kNumLevels][i % kNumLevels] = of_image[i];
    __syncthreads();
    const uint8_t* const in = task.input + image * size;
    uint8_t* const out = task.output + image * size;
    const int64_t before = static_cast<int64_t>(reinterpret_cast<uintptr_t>(out) % kBytes);
    for (int64_t item = first_item(); item * kBytes < size + before; item += item_step()) {
      const int64_t first = item * kBytes - before;
      if (first < 0 || first + kBytes > size || !memory.has_words(in + first, kBytes)) {
        for (int64_t i = max(first, int64_t{0}); i < min(first + kBytes, size); ++i)
          out[i] = levels[i % kChannels][in[i]];
        continue;
      }
      uint32_t words[kGroup];
      load_words(in + first, words);
      const int channel = static_cast<int>(first % kChannels);
      const uint8_t* of_channels[kChannels];
#pragma unroll
      for (int c = 0; c < kChannels; ++c)
        of_channels[c] = levels[channel + c < kChannels ? channel + c : channel + c - kChannels];
      const auto level = [&](int i) -> uint32_t {
        return of_channels[i % kChannels][byte_of(words, i)];
      };
      ElementGroup<uint32_t> mapped;
#pragma unroll
      for (int i = 0; i < kGroup; ++i) {
        const ElementGroup<uint8_t> bytes =
            last_bytes(level(4 * i), level(4 * i + 1), level(4 * i + 2), level(4 * i + 3));
        std::memcpy(&mapped.elements[i], &bytes, sizeof bytes);
      }
      store_whole(reinterpret_cast<uint32_t*>(out + first), mapped);
    }
  }
}

// The same for any number of channels, four bytes a thread.
__device__ __noinline__ void map_any_bytes(const EqualizeTask& task) {
  const int64_t channels = task.channels.divisor;
  const int64_t elements = task.num_elements();
  const int64_t lead = group_lead(task.output, 1);
  const bool is_aligned = is_group_aligned<uint8_t>(task.input, lead);
  const int64_t groups = num_groups(elements, lead);
  const uint32_t table_end = static_cast<uint32_t>(channels) * kNumLevels;
  for (int64_t group = first_item(); group < groups; group += item_step()) {
    const int64_t first = group * kGroup - lead;
    uint8_t values[kGroup] = {};
    load_group(task.input, first, elements, is_aligned, values);
    const int64_t inside = first > 0 ? first : 0;
    const int64_t image = task.num_images == 1 ? 0 : quotient(inside, task.image_size);
    int64_t place = inside - image * task.image_size.divisor;
    // The levels of a pixel's first channel, and where those of the byte begin behind them.
    const uint8_t* levels = task.levels + image * channels * kNumLevels;
    uint32_t table =
        static_cast<uint32_t>(place - quotient(place, task.channels) * channels) * kNumLevels;
    const auto next_table = [table_end](uint32_t now) {
      return now + kNumLevels == table_end ? 0 : now + kNumLevels;
    };
    ElementGroup<uint8_t> mapped{};
    if (first >= 0 && place + kGroup <= task.image_size.divisor) {
#pragma unroll
      for (int i = 0; i < kGroup; ++i) {
        mapped.elements[i] = levels[table + values[i]];
        table = next_table(table);
      }
    } else {
#pragma unroll
      for (int i = 0; i < kGroup; ++i) {
        if (first + i < 0 || first + i >= elements) continue;
        mapped.elements[i] = levels[table + values[i]];
        table = next_table(table);
        if (++place < task.image_size.divisor) continue;
        place = 0;
        levels += channels * kNumLevels;
      }
    }
    store_group(task.output, first, elements, true, mapped);
  }
}

}  // namespace dali_core

extern "C" __global__ void count_levels(const dali_core::EqualizeTask* tasks, int count) {
  using namespace dali_core;
  __shared__ uint32_t counts[kCountedChannels][kNumLevels];
  if (sample_of_block() >= count) return;
  const EqualizeTask& task = tasks[sample_of_block()];
  const int64_t channels = task.channels.divisor;
  const int64_t parts = task.num_images * task.parts.divisor;
  const int thread = static_cast<int>(threadIdx.x);
  for (int64_t number = blockIdx.x; number < parts; number += gridDim.x) {
    const int64_t image = quotient(number, task.parts);
    const int64_t place = number - image * task.parts.divisor;
    const int64_t begin = place * task.part;
    const int64_t end = min(begin + task.part, task.num_pixels);
    const uint8_t* const pixels = task.input + image * task.image_size.divisor;
    for (int64_t first = 0; first < channels; first += kCountedChannels) {
      const int some = static_cast<int>(min(channels - first, int64_t{kCountedChannels}));
      for (int c = 0; c < some; ++c) counts[c][thread] = 0;
      __syncthreads();
      if (channels == 3)
        count_bytes<3>(pixels + begin * 3, (end - begin) * 3, counts);
      else if (channels == 1)
        count_bytes<1>(pixels + begin, end - begin, counts);
      else
        for (int64_t i = begin + thread; i < end; i += kLevelThreads)
          for (int c = 0; c < some; ++c)
            atomicAdd(&counts[c][pixels[i * channels + first + c]], 1u);
      __syncthreads();
      for (int c = 0; c < some; ++c) {
        const int64_t channel = image * channels + first + c;
        task.histograms[(channel * task.parts.divisor + place) * kNumLevels + thread] =
            counts[c][thread];
      }
    }
  }
}

extern "C" __global__ void find_levels(const dali_core::EqualizeTask* tasks, int count) {
  using namespace dali_core;
  __shared__ uint32_t histogram[kNumLevels];
  if (sample_of_block() >= count) return;
  const EqualizeTask& task = tasks[sample_of_block()];
  const int64_t num_channels = task.num_images * task.channels.divisor;
  const int thread = static_cast<int>(threadIdx.x);
  for (int64_t channel = blockIdx.x; channel < num_channels; channel += gridDim.x) {
    uint32_t sum = 0;
    for (int64_t place = 0; place < task.parts.divisor; ++place)
      sum += task.histograms[(channel * task.parts.divisor + place) * kNumLevels + thread];
    histogram[thread] = sum;
    __syncthreads();
    if (thread == 0)
      equalizing_levels(histogram, task.num_pixels, task.levels + channel * kNumLevels);
    __syncthreads();
  }
}

extern "C" __global__ void map_levels(const dali_core::EqualizeTask* tasks, int count) {
  using namespace dali_core;
  __shared__ uint8_t levels[3][kNumLevels];
  if (sample_of_block() >= count) return;
  const EqualizeTask task = tasks[sample_of_block()];
  if (task.channels.divisor == 3)
    map_bytes<3>(task, levels);
  else if (task.channels.divisor == 1)
    map_bytes<1>(task, levels);
  else
    map_any_bytes(task);
}
