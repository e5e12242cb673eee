// Spectra of windows, a few windows a block and a butterfly a thread, with the host's arithmetic.
#include "dali_core/device_kernel.hpp"
#include "dali_core/kernels/audio/spectrogram_task.hpp"

namespace dali_core {

#include "dali_core/kernels/audio/butterflies.inc.hpp"

// One factor of the transforms of `count` windows.
template <int kFactor>
inline __device__ void split_windows(const FourierStage& stage, const float* all_twiddles,
                                     float* data, int64_t pitch, int64_t count) {
  const QuickDivisor part = stage.part, butterflies = stage.butterflies;
  const float* const twiddles = all_twiddles + stage.first_twiddle;
  const bool is_turned = part.divisor > 1;
  const int64_t items = count * butterflies.divisor;
  for (int64_t item = threadIdx.x; item < items; item += blockDim.x) {
    const int64_t window = quotient(item, butterflies);
    const int64_t number = item - window * butterflies.divisor;
    const int64_t block = quotient(number, part);
    const int64_t place = number - block * part.divisor;
    float* const row = data + window * pitch + 2 * (block * kFactor * part.divisor + place);
    const float* const twiddle = twiddles + 2 * (kFactor - 1) * place;
    split_points<kFactor>(row, 2 * part.divisor, is_turned ? twiddle : nullptr, stage.angles);
  }
}

inline __device__ void transform_windows(const FourierTables& transform, float* data, int64_t pitch,
                                         int64_t count) {
  for (int64_t number = 0; number < transform.num_stages; ++number) {
    const FourierStage& stage = transform.stages[number];
    const float* const twiddles = transform.twiddles;
    switch (stage.factor) {
      case 2:
        split_windows<2>(stage, twiddles, data, pitch, count);
        break;
      case 3:
        split_windows<3>(stage, twiddles, data, pitch, count);
        break;
      case 4:
        split_windows<4>(stage, twiddles, data, pitch, count);
        break;
      case 5:
        split_windows<5>(stage, twiddles, data, pitch, count);
        break;
      case 7:
        split_windows<7>(stage, twiddles, data, pitch, count);
        break;
      case 11:
        split_windows<11>(stage, twiddles, data, pitch, count);
        break;
      default:
        split_windows<13>(stage, twiddles, data, pitch, count);
        break;
    }
    __syncthreads();
  }
}

// A sample of a window that begins at `start`, times the window function.
inline __device__ float windowed_sample(const SpectrogramTables& tables,
                                        const SpectrogramTask& task, int64_t start, int64_t i) {
  if (i >= tables.extent) return 0;
  int64_t place = start + i;
  if (place < 0 || place >= task.length) place = padded_place(place, task.length, tables.padding);
  const float sample = place < 0 ? 0 : task.signal[place];
  return sample * tables.window[i];
}

inline __device__ void load_windows(const SpectrogramTables& tables, const SpectrogramTask& task,
                                    int64_t first, int64_t count, float* data) {
  const int64_t items = count * tables.loaded_points.divisor;
  for (int64_t item = threadIdx.x; item < items; item += blockDim.x) {
    const int64_t window = quotient(item, tables.loaded_points);
    const int64_t i = item - window * tables.loaded_points.divisor;
    const int64_t start = (first + window) * tables.step - tables.shift;
    float* const row = data + window * tables.pitch + 2 * i;
    float re = 0, im = 0;
    if (tables.is_packed) {
      re = windowed_sample(tables, task, start, 2 * i);
      im = windowed_sample(tables, task, start, 2 * i + 1);
    } else {
      re = windowed_sample(tables, task, start, i);
    }
    if (tables.chirp != nullptr && i < tables.points) {
      store_product(re, im, tables.chirp[2 * i], tables.chirp[2 * i + 1], row);
    } else {
      row[0] = re;
      row[1] = im;
    }
  }
}

// After one of the two transforms of a convolution. The second one is in the second half of the
// memory of a window.
inline __device__ void multiply_windows(const SpectrogramTables& tables, bool is_second,
                                        int64_t count, float* data) {
  const int64_t points = tables.transform.points;
  const int64_t items = count * points;
  for (int64_t item = threadIdx.x; item < items; item += blockDim.x) {
    const int64_t window = quotient(item, tables.loaded_points);
    const int64_t i = item - window * points;
    float* const first = data + window * tables.pitch;
    float* const second = first + 2 * points;
    const int64_t position = tables.transform.positions[i];
    if (!is_second) {
      const float* const filter = tables.filter + position;
      float* const target = second + 2 * i;
      store_product(first[position], first[position + 1], filter[0], filter[1], target);
      target[1] = -target[1];
    } else if (i < tables.points) {
      store_product(second[position], -second[position + 1], tables.chirp[2 * i],
                    tables.chirp[2 * i + 1], first + 2 * i);
    }
  }
}

inline __device__ void store_power(const SpectrogramTables& tables, float power, float* to) {
  *to = tables.is_amplitude ? __fsqrt_rn(power) : power;
}

inline __device__ void store_spectra(const SpectrogramTables& tables, const SpectrogramTask& task,
                                     int64_t first, int64_t count, const float* data) {
  const int64_t bin_step = tables.time_major ? 1 : task.num_windows;
  const int64_t window_step = tables.time_major ? tables.num_bins : 1;
  const int64_t half = tables.points;
  const int64_t items = tables.pairs.divisor << tables.windows_shift;
  const auto row_of = [&](const float* rows, int64_t frequency) {
    return rows + (tables.chirp != nullptr ? 2 * frequency : tables.transform.positions[frequency]);
  };
  for (int64_t item = threadIdx.x; item < items; item += blockDim.x) {
    // Writes of neighbouring threads are coalesced.
    int64_t window = item & ((int64_t{1} << tables.windows_shift) - 1);
    int64_t i = item >> tables.windows_shift;
    if (tables.time_major) {
      window = quotient(item, tables.pairs);
      i = item - window * tables.pairs.divisor;
    }
    if (window >= count) continue;
    const float* const rows = data + window * tables.pitch;
    float* const out = task.out + (first + window) * window_step;
    const float* const a = row_of(rows, i);
    if (!tables.is_packed) {
      store_power(tables, a[0] * a[0] + a[1] * a[1], out + i * bin_step);
      continue;
    }
    float low, high;
    if (i == 0)
      powers_of_ends(a, &low, &high);
    else
      powers_of_pair(a, row_of(rows, half - i), tables.twiddles[2 * i], tables.twiddles[2 * i + 1],
                     &low, &high);
    store_power(tables, low, out + i * bin_step);
    store_power(tables, high, out + (half - i) * bin_step);
  }
}

inline __device__ void compute_windows(const SpectrogramTables& tables, const SpectrogramTask& task,
                                       float* data) {
  const int64_t in_block = int64_t{1} << tables.windows_shift;
  for (int64_t first = blockIdx.x * in_block; first < task.num_windows;
       first += gridDim.x * in_block) {
    const int64_t count = min(in_block, task.num_windows - first);
    load_windows(tables, task, first, count, data);
    __syncthreads();
    const int num_transforms = tables.chirp != nullptr ? 2 : 1;
    for (int number = 0; number < num_transforms; ++number) {
      transform_windows(tables.transform, data + number * 2 * tables.transform.points, tables.pitch,
                        count);
      if (tables.chirp == nullptr) break;
      multiply_windows(tables, number == 1, count, data);
      __syncthreads();
    }
    store_spectra(tables, task, first, count, data);
    __syncthreads();
  }
}

}  // namespace dali_core

extern "C" __global__ void __launch_bounds__(256)
    compute_spectra(const dali_core::SpectrogramTask* tasks, int count) {
  using namespace dali_core;
  extern __shared__ float points[];
  if (sample_of_block() >= count) return;
  const SpectrogramTask task = tasks[sample_of_block()];
  const SpectrogramTables tables = *task.tables;
  compute_windows(tables, task, points);
}

// A window a block.
extern "C" __global__ void __launch_bounds__(256)
    compute_long_spectra(const dali_core::SpectrogramTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const SpectrogramTask task = tasks[sample_of_block()];
  const SpectrogramTables tables = *task.tables;
  compute_windows(tables, task, task.memory + blockIdx.x * tables.pitch);
}
