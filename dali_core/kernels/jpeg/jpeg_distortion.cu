// Distorts images as JPEG compression does: first planes, a block a thread; then pixels of them.
#include "dali_core/kernels/jpeg/jpeg_distortion.hpp"

#include "dali_core/device_kernel.hpp"

namespace dali_core {

inline __device__ int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// Pixels outside of the image are the nearest ones.
inline __device__ const uint8_t* pixel_at(const JpegDistortionTask& task, int64_t y, int64_t x) {
  const int64_t width = task.width.divisor;
  return task.in + (least(y, task.height - 1) * width + least(x, width - 1)) * 3;
}

inline __device__ int32_t luma_at(const JpegDistortionTask& task, int64_t y, int64_t x) {
  const uint8_t* const rgb = pixel_at(task, y, x);
  return luma(rgb[0], rgb[1], rgb[2]);
}

inline __device__ int32_t difference_at(const JpegDistortionTask& task, int64_t y, int64_t x,
                                        bool is_red) {
  const uint8_t* const rgb = pixel_at(task, y, x);
  return is_red ? red_difference(rgb[0], rgb[1], rgb[2]) : blue_difference(rgb[0], rgb[1], rgb[2]);
}

// The mean of 2 x 2 pixels; halves are rounded down and up in turns.
inline __device__ int32_t chroma_at(const JpegDistortionTask& task, int64_t row, int64_t column,
                                    bool is_red) {
  const int64_t y = 2 * least(row, (task.height + 1) / 2 - 1);
  const int64_t x = 2 * column;
  return (difference_at(task, y, x, is_red) + difference_at(task, y, x + 1, is_red) +
          difference_at(task, y + 1, x, is_red) + difference_at(task, y + 1, x + 1, is_red) + 1 +
          static_cast<int32_t>(column & 1)) >>
         2;
}

// A sample of chroma between the nearest one, which counts thrice, and the next one, in both
// directions.
inline __device__ int32_t doubled_chroma(const JpegDistortionTask& task, const JpegPlane& plane,
                                         int64_t y, int64_t x) {
  const int64_t count = (task.width.divisor + 1) / 2;
  const int64_t column = x / 2;
  const uint8_t* const near = plane.samples + y / 2 * plane.width;
  // Decoders do not interpolate rows as short as this.
  if (count <= 2) return near[column];
  const int64_t below = least(y / 2 + 1, (task.height + 1) / 2 - 1);
  const int64_t above = y / 2 > 0 ? y / 2 - 1 : 0;
  const uint8_t* const next = plane.samples + (y % 2 != 0 ? below : above) * plane.width;
  const int64_t after = least(column + 1, count - 1);
  const int64_t before = column > 0 ? column - 1 : 0;
  const int64_t other = x % 2 != 0 ? after : before;
  const int32_t inner = 3 * near[column] + next[column];
  const int32_t outer = 3 * near[other] + next[other];
  return (3 * inner + outer + (x % 2 != 0 ? 7 : 8)) >> 4;
}

}  // namespace dali_core

extern "C" __global__ void distort_jpeg_blocks(const dali_core::JpegDistortionTask* tasks,
                                               int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const JpegDistortionTask& task = tasks[sample_of_block()];
  const int64_t luma_blocks = task.luma.num_blocks;
  const int64_t chroma_blocks = task.chroma[0].num_blocks;
  for (int64_t item = first_item(); item < luma_blocks + 2 * chroma_blocks; item += item_step()) {
    const bool is_luma = item < luma_blocks;
    const bool is_red = item >= luma_blocks + chroma_blocks;
    const JpegPlane& plane = is_luma ? task.luma : task.chroma[is_red ? 1 : 0];
    const int64_t number = item - (is_luma ? 0 : luma_blocks) - (is_red ? chroma_blocks : 0);
    const int64_t row = quotient(number, plane.blocks_in_row);
    const int64_t top = row * kBlock;
    const int64_t left = (number - row * plane.blocks_in_row.divisor) * kBlock;
    int32_t block[kBlock * kBlock];
#pragma unroll
    for (int i = 0; i < kBlock * kBlock; ++i) {
      const int64_t y = top + i / kBlock;
      const int64_t x = left + i % kBlock;
      block[i] = (is_luma ? luma_at(task, y, x) : chroma_at(task, y, x, is_red)) - 128;
    }
    distort_block(block, plane.steps);
#pragma unroll
    for (int i = 0; i < kBlock * kBlock; ++i)
      plane.samples[(top + i / kBlock) * plane.width + left + i % kBlock] =
          static_cast<uint8_t>(byte_of(block[i] + 128));
  }
}

extern "C" __global__ void join_jpeg_planes(const dali_core::JpegDistortionTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const JpegDistortionTask& task = tasks[sample_of_block()];
  const int64_t pixels = task.height * task.width.divisor;
  for (int64_t item = first_item(); item < pixels; item += item_step()) {
    const int64_t y = quotient(item, task.width);
    const int64_t x = item - y * task.width.divisor;
    const int32_t luma = task.luma.samples[y * task.luma.width + x];
    const int32_t cb = doubled_chroma(task, task.chroma[0], y, x);
    const int32_t cr = doubled_chroma(task, task.chroma[1], y, x);
    uint8_t* const rgb = task.out + 3 * item;
    rgb[0] = static_cast<uint8_t>(red_of(luma, cb, cr));
    rgb[1] = static_cast<uint8_t>(green_of(luma, cb, cr));
    rgb[2] = static_cast<uint8_t>(blue_of(luma, cb, cr));
  }
}
