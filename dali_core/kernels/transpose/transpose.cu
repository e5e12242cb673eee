// Transposes planes. Large ones go through tiles in shared memory, so that both reading and writing
// meet neighbours; pixels that become planes, or planes that become pixels, go through registers.
#include "dali_core/device_kernel.hpp"
#include "dali_core/kernels/transpose/transpose_tasks.hpp"

namespace dali_core {

struct alignas(16) TransposedBytes {
  uint64_t halves[2];
};

// Three channels of a pixel.
template <typename T>
struct TransposedPixel {
  T channels[3];
};

constexpr int kLargestTile = 32 * 33 * 16;

// Adds to the addresses what leads to a plane.
__device__ void go_to_plane(const PlaneTask& task, int64_t plane, const char*& in, char*& out) {
#pragma unroll 1
  for (int dim = task.num_dims - 1; dim >= 0; --dim) {
    const int64_t rest = dim > 0 ? quotient(plane, task.extents[dim]) : 0;
    const int64_t place = plane - rest * task.extents[dim].divisor;
    in += place * task.input_strides[dim];
    out += place * task.output_strides[dim];
    plane = rest;
  }
}

// Copies lines of units into a tile or out of it. Bytes from one line to the next are a pitch;
// those from one unit of a line to the next are `from_step`, or a unit. A thread has several units
// on their way together. What is not there is anything in the tile.
template <typename T, int kSide, bool kIntoTile>
inline __device__ void copy_lines(const char* from, int64_t from_pitch, int from_step, char* to,
                                  int64_t to_pitch, int lines, int length) {
  constexpr int kLines = kTileThreads / 32;
  constexpr int kTogether = kSide / kLines < 4 ? kSide / kLines : 4;
  constexpr int kUnits = kSide / 32;
  constexpr int kSize = static_cast<int>(sizeof(T));
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int first = static_cast<int>(threadIdx.x / 32); first < kSide; first += kTogether * kLines) {
    T units[kTogether][kUnits];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int line = kIntoTile ? min(first + i * kLines, lines - 1) : first + i * kLines;
#pragma unroll
      for (int k = 0; k < kUnits; ++k) {
        const int unit = kIntoTile ? min(lane + k * 32, length - 1) : lane + k * 32;
        units[i][k] = *reinterpret_cast<const T*>(from + line * from_pitch + unit * from_step);
      }
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i)
#pragma unroll
      for (int k = 0; k < kUnits; ++k)
        if (kIntoTile || (first + i * kLines < lines && lane + k * 32 < length))
          *reinterpret_cast<T*>(to + (first + i * kLines) * to_pitch + (lane + k * 32) * kSize) =
              units[i][k];
  }
}

template <typename T>
__device__ void move_tiles(const PlaneTask& task, char* tile) {
  constexpr int kSize = static_cast<int>(sizeof(T));
  constexpr int kSide = kSize < 4 ? 64 : 32;
  // A little more than the units, so that columns are spread over the banks of the memory.
  constexpr int kPitch = kSide * kSize + (kSize < 4 ? 4 : kSize);
  const int64_t tiles = task.planes * task.down.divisor * task.across.divisor;
  for (int64_t number = blockIdx.x; number < tiles; number += gridDim.x) {
    const int64_t above = quotient(number, task.across);
    const int64_t plane = quotient(above, task.down);
    const int64_t column = (number - above * task.across.divisor) * kSide;
    const int64_t row = (above - plane * task.down.divisor) * kSide;
    const char* in = static_cast<const char*>(task.in) + row * kSize + column * task.input_stride;
    char* out = static_cast<char*>(task.out) + row * task.output_stride + column * kSize;
    go_to_plane(task, plane, in, out);
    const int rows = static_cast<int>(task.rows - row < kSide ? task.rows - row : kSide);
    const int columns =
        static_cast<int>(task.columns - column < kSide ? task.columns - column : kSide);
    copy_lines<T, kSide, true>(in, task.input_stride, kSize, tile, kPitch, columns, rows);
    __syncthreads();
    copy_lines<T, kSide, false>(tile, kSize, kPitch, out, task.output_stride, rows, columns);
    __syncthreads();
  }
}

// Four neighbours, as one where they are aligned; `count` of them are there.
template <typename T>
__device__ void load_four(const char* from, int64_t count, T* to) {
  if (count >= kGroup && reinterpret_cast<uintptr_t>(from) % alignof(ElementGroup<T>) == 0) {
    const ElementGroup<T> group = *reinterpret_cast<const ElementGroup<T>*>(from);
    for (int i = 0; i < kGroup; ++i) to[i] = group.elements[i];
  } else {
    for (int i = 0; i < kGroup; ++i)
      if (i < count) to[i] = reinterpret_cast<const T*>(from)[i];
  }
}

template <typename T>
__device__ void store_four(char* to, int64_t count, const T* from) {
  if (count >= kGroup && reinterpret_cast<uintptr_t>(to) % alignof(ElementGroup<T>) == 0) {
    ElementGroup<T> group;
    for (int i = 0; i < kGroup; ++i) group.elements[i] = from[i];
    *reinterpret_cast<ElementGroup<T>*>(to) = group;
  } else {
    for (int i = 0; i < kGroup; ++i)
      if (i < count) reinterpret_cast<T*>(to)[i] = from[i];
  }
}

// Planes with a short side of kShort units, which are next to each other on the side where the
// short side runs: pixels. Each thread takes four pixels, and those of its next turn with them, so
// that both are on their way together.
template <typename T, int kShort, bool kIntoPlanes>
__device__ void move_pixels(const PlaneTask& task) {
  constexpr int64_t kSize = sizeof(T);
  constexpr int kTogether = 2;
  const int64_t length = kIntoPlanes ? task.columns : task.rows;
  const int64_t groups = task.planes * task.across.divisor;
  for (int64_t begin = first_item(); begin < groups; begin += kTogether * item_step()) {
    T units[kTogether][kGroup * kShort];
    int64_t pixels[kTogether];
    char* out[kTogether];
#pragma unroll
    for (int turn = 0; turn < kTogether; ++turn) {
      const int64_t number = begin + turn * item_step();
      if (number >= groups) break;
      const int64_t plane = quotient(number, task.across);
      const int64_t first = (number - plane * task.across.divisor) * kGroup;
      const char* in = static_cast<const char*>(task.in);
      out[turn] = static_cast<char*>(task.out);
      go_to_plane(task, plane, in, out[turn]);
      pixels[turn] = length - first;
      in += first * (kIntoPlanes ? kShort : 1) * kSize;
      out[turn] += first * (kIntoPlanes ? 1 : kShort) * kSize;
#pragma unroll
      for (int k = 0; k < kShort; ++k) {
        if constexpr (kIntoPlanes) {
          load_four(in + k * kGroup * kSize, pixels[turn] * kShort - k * kGroup,
                    units[turn] + k * kGroup);
        } else {
          T column[kGroup] = {};
          load_four(in + k * task.input_stride, pixels[turn], column);
          for (int i = 0; i < kGroup; ++i) units[turn][i * kShort + k] = column[i];
        }
      }
    }
#pragma unroll
    for (int turn = 0; turn < kTogether; ++turn) {
      if (begin + turn * item_step() >= groups) break;
#pragma unroll
      for (int k = 0; k < kShort; ++k) {
        if constexpr (kIntoPlanes) {
          T row[kGroup];
          for (int i = 0; i < kGroup; ++i) row[i] = units[turn][i * kShort + k];
          store_four(out[turn] + k * task.output_stride, pixels[turn], row);
        } else {
          store_four(out[turn] + k * kGroup * kSize, pixels[turn] * kShort - k * kGroup,
                     units[turn] + k * kGroup);
        }
      }
    }
  }
}

template <typename T>
__device__ void move_pixels(const PlaneTask& task) {
  const bool into_planes = task.rows <= 4 && task.input_stride == task.rows * task.unit_bytes;
  switch (into_planes ? task.rows : task.columns) {
    case 2:
      return into_planes ? move_pixels<T, 2, true>(task) : move_pixels<T, 2, false>(task);
    case 3:
      return into_planes ? move_pixels<T, 3, true>(task) : move_pixels<T, 3, false>(task);
    default:
      return into_planes ? move_pixels<T, 4, true>(task) : move_pixels<T, 4, false>(task);
  }
}

}  // namespace dali_core

extern "C" __global__ void __launch_bounds__(dali_core::kTileThreads, 4)
    transpose_tiles(const dali_core::PlaneTask* tasks, int count) {
  alignas(16) __shared__ char tile[dali_core::kLargestTile];
  const int number = static_cast<int>(blockIdx.y + gridDim.y * blockIdx.z);
  if (number >= count) return;
  const dali_core::PlaneTask& task = tasks[number];
  switch (task.unit_bytes) {
    case 1:
      return dali_core::move_tiles<uint8_t>(task, tile);
    case 2:
      return dali_core::move_tiles<uint16_t>(task, tile);
    case 4:
      return dali_core::move_tiles<uint32_t>(task, tile);
    case 8:
      return dali_core::move_tiles<uint64_t>(task, tile);
    case 3:
      return dali_core::move_tiles<dali_core::TransposedPixel<uint8_t>>(task, tile);
    case 6:
      return dali_core::move_tiles<dali_core::TransposedPixel<uint16_t>>(task, tile);
    case 12:
      return dali_core::move_tiles<dali_core::TransposedPixel<uint32_t>>(task, tile);
    default:
      return dali_core::move_tiles<dali_core::TransposedBytes>(task, tile);
  }
}

extern "C" __global__ void __launch_bounds__(256, 4)
    transpose_pixels(const dali_core::PlaneTask* tasks, int count) {
  const int number = static_cast<int>(blockIdx.y + gridDim.y * blockIdx.z);
  if (number >= count) return;
  const dali_core::PlaneTask& task = tasks[number];
  switch (task.unit_bytes) {
    case 1:
      return dali_core::move_pixels<uint8_t>(task);
    case 2:
      return dali_core::move_pixels<uint16_t>(task);
    default:
      return dali_core::move_pixels<uint32_t>(task);
  }
}
