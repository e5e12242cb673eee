// Convolves images of bytes along both axes, a tile of the output a block: what it covers of the
// input and the sums along the width are in shared memory.
#include "dali_core/device_words.hpp"
#include "dali_core/kernels/convolution/border.hpp"
#include "dali_core/kernels/convolution/convolved_groups.hpp"
#include "dali_core/kernels/convolution/tile_task.hpp"

namespace dali_core {
namespace {

constexpr int kAlong = 4;  // sums that a thread makes along an axis
constexpr int kWarps = kConvolvedThreads / 32;

// Where a tile begins.
struct TilePlace {
  int64_t plane, row, number;
};

__device__ __noinline__ int64_t mirrored_place(int64_t place, int64_t extent) {
  return border_place(Border::kReflect101, place, extent);
}

// Four bytes of a row from `number` on, some of which lie beyond the border.
template <int kChannels>
__device__ __noinline__ uint32_t bytes_near(const uint8_t* row, int64_t number, int64_t width) {
  uint32_t word = 0;
#pragma unroll 1
  for (int i = 0; i < 4; ++i, ++number) {
    // Rounded down.
    const int64_t pixel = (number >= 0 ? number : number - kChannels + 1) / kChannels;
    const int64_t place = mirrored_place(pixel, width) * kChannels + number - pixel * kChannels;
    word |= static_cast<uint32_t>(row[place]) << (8 * i);
  }
  return word;
}

// Each warp loads rows, several at a time.
template <int kChannels>
inline __device__ void load_tile(const TileTask& task, const TilePlace& place, uint32_t* covered) {
  constexpr int kInFlight = 4;
  const auto warp = static_cast<int32_t>(threadIdx.x) / 32;
  const auto lane = static_cast<int32_t>(threadIdx.x) % 32;
  const auto words = static_cast<int32_t>(task.covered_bytes()) / 4;
  const auto rows = static_cast<int32_t>(task.covered_rows());
  const int64_t first = place.number - task.size_across / 2 * kChannels;
  const int64_t row_bytes = task.width * kChannels;
  const uint8_t* const plane = task.input + place.plane * task.height * row_bytes;
  for (int32_t row = warp; row < rows; row += kWarps * kInFlight) {
    const uint8_t* from[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      // Rows that are not needed are the last one.
      int64_t y = place.row - task.size_down / 2 + min(row + k * kWarps, rows - 1);
      if (y < 0 || y >= task.height) y = mirrored_place(y, task.height);
      from[k] = plane + y * row_bytes;
    }
    for (int32_t word = lane; word < words; word += 32) {
      const int64_t number = first + 4 * word;
      uint32_t loaded[kInFlight][1];
      if (number >= 4 && number + 8 <= row_bytes) {
#pragma unroll
        for (int k = 0; k < kInFlight; ++k) load_words(from[k] + number, loaded[k]);
      } else {
#pragma unroll
        for (int k = 0; k < kInFlight; ++k)
          loaded[k][0] = bytes_near<kChannels>(from[k], number, task.width);
      }
#pragma unroll
      for (int k = 0; k < kInFlight; ++k)
        if (row + k * kWarps < rows) covered[(row + k * kWarps) * words + word] = loaded[k][0];
    }
  }
}

template <int kChannels>
inline __device__ void sum_across(const TileTask& task, const uint8_t* covered, float* sums) {
  constexpr int kItems = kConvolvedNumbers / (kAlong * kChannels);
  const auto count = static_cast<int32_t>(task.covered_rows()) * kItems;
  const auto pitch = static_cast<int32_t>(task.covered_bytes());
  const auto size = static_cast<int32_t>(task.size_across);
  for (auto i = static_cast<int32_t>(threadIdx.x); i < count; i += kConvolvedThreads) {
    const int32_t row = i / kItems;
    const int32_t number = (i - row * kItems) * kAlong * kChannels;
    const uint8_t* const from = covered + row * pitch + number;
    ConvolvedSums<kAlong, kChannels> found;
    add_weights<false>(
        task.weights_across, size,
        [&](int32_t k, float (&values)[kChannels]) {
#pragma unroll
          for (int c = 0; c < kChannels; ++c)
            values[c] = counted_byte<0>(from[k * kChannels + c]) - kCountsOnes;
        },
        found);
    float* const to = sums + row * kConvolvedNumbers + number;
#pragma unroll
    for (int n = 0; n < kAlong * kChannels; ++n) to[n] = found.values[n / kChannels][n % kChannels];
  }
}

template <typename To>
inline __device__ void sum_down(const TileTask& task, const TilePlace& place, const float* sums) {
  constexpr int kItems = kConvolvedNumbers / kGroup;
  const int64_t step = task.width * task.channels;
  const auto size = static_cast<int32_t>(task.size_down);
  To* const plane = static_cast<To*>(task.output) + place.plane * task.height * step;
  for (auto i = static_cast<int32_t>(threadIdx.x); i < kConvolvedRows / kAlong * kItems;
       i += kConvolvedThreads) {
    const int32_t group = i / kItems;
    const int32_t across = (i - group * kItems) * kGroup;
    const int64_t y = place.row + group * kAlong;
    const int64_t number = place.number + across;
    if (y >= task.height || number >= step) continue;
    const float* const from = sums + group * kAlong * kConvolvedNumbers + across;
    ConvolvedSums<kAlong, kGroup> found;
    add_weights<false>(
        task.weights_down, size,
        [&](int32_t k, float (&values)[kGroup]) {
          const ElementGroup<float> row =
              *reinterpret_cast<const ElementGroup<float>*>(from + k * kConvolvedNumbers);
#pragma unroll
          for (int c = 0; c < kGroup; ++c) values[c] = row.elements[c];
        },
        found);
    To* const to = plane + y * step + number;
    const auto convert = [](const float (&values)[kGroup]) { return convert_group<To>(values); };
    if (number + kGroup <= step) {
      store_sums(to, step, task.height - y, found, convert);
      continue;
    }
#pragma unroll
    for (int r = 0; r < kAlong; ++r)
#pragma unroll
      for (int c = 0; c < kGroup; ++c)
        if (y + r < task.height && number + c < step) {
          const float values[kGroup] = {found.values[r][c]};
          to[r * step + c] = convert(values).elements[0];
        }
  }
}

template <int kChannels>
inline __device__ void convolve_tile(const TileTask& task, const TilePlace& place, float* sums) {
  auto* const covered = reinterpret_cast<uint32_t*>(sums + task.covered_rows() * kConvolvedNumbers);
  load_tile<kChannels>(task, place, covered);
  __syncthreads();
  sum_across<kChannels>(task, reinterpret_cast<const uint8_t*>(covered), sums);
}

}  // namespace
}  // namespace dali_core

extern "C" __global__ void __launch_bounds__(256, 4)
    convolve_tiles(const dali_core::TileTask* tasks, int count) {
  using namespace dali_core;
  extern __shared__ float sums[];
  if (sample_of_block() >= count) return;
  const TileTask& task = tasks[sample_of_block()];
  const int64_t tiles = task.planes * task.tiles_down.divisor * task.tiles_across.divisor;
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int64_t above = quotient(tile, task.tiles_across);
    const int64_t plane = quotient(above, task.tiles_down);
    const TilePlace place = {plane, (above - plane * task.tiles_down.divisor) * kConvolvedRows,
                             (tile - above * task.tiles_across.divisor) * kConvolvedNumbers};
    if (task.channels == 3)
      convolve_tile<3>(task, place, sums);
    else
      convolve_tile<1>(task, place, sums);
    __syncthreads();
    if (task.to == DataType::kUInt8)
      sum_down<uint8_t>(task, place, sums);
    else
      sum_down<float>(task, place, sums);
    __syncthreads();
  }
}
