// Equalizes histograms in three steps: count, find what levels become, and map pixels.
#include "dali_core/kernels/histogram/equalize.hpp"

#include "dali_core/device_kernel.hpp"

namespace dali_core {

// Threads of a block that counts or finds levels: one a level.
constexpr int kLevelThreads = kNumLevels;

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
      for (int64_t i = begin + thread; i < end; i += kLevelThreads)
        for (int c = 0; c < some; ++c) atomicAdd(&counts[c][pixels[i * channels + first + c]], 1u);
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

// Four bytes a thread.
extern "C" __global__ void map_levels(const dali_core::EqualizeTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const EqualizeTask task = tasks[sample_of_block()];
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
