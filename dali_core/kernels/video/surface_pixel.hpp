// The pixels of a surface: the rule of convert_planes.hpp for a single pixel of NV12, or of P016,
// whose values are the highest bits of words.
#pragma once

#include <cstdint>

#include "dali_core/host_device.hpp"

namespace dali_core {

// What the kernel `convert_surfaces` does for one clip.
struct SurfaceTask {
  const void* in;
  uint8_t* out;
  int64_t num_frames;
  int64_t frame_bytes;
  int32_t height;  // as stored, both even
  int32_t width;
  int32_t bits;
  int32_t transpose;  // then mirrored, as an Orientation says
  int32_t flip_y;
  int32_t flip_x;
  int32_t channels;  // 1, or 3
  int32_t swaps;     // whether the last channel comes first
  float factors[3][3];
  float offsets[3];
};

// Where a pixel of the upright image is stored.
struct StoredPixel {
  int32_t y;
  int32_t x;
};

DC_HOST_DEV StoredPixel stored_pixel(const SurfaceTask& task, int32_t y, int32_t x) {
  if (task.flip_y) y = (task.transpose ? task.width : task.height) - 1 - y;
  if (task.flip_x) x = (task.transpose ? task.height : task.width) - 1 - x;
  return task.transpose ? StoredPixel{x, y} : StoredPixel{y, x};
}

// 16 times the chroma that a pixel has: three parts of the nearer sample and one of the next, each
// way. `plane` is 0 or 1.
template <typename Stored>
DC_HOST_DEV int32_t blended_chroma(const Stored* chroma, const SurfaceTask& task, StoredPixel at,
                                   int plane, int shift) {
  const int32_t rows = task.height / 2, columns = task.width / 2;
  const int32_t near_y = at.y / 2, near_x = at.x / 2;
  int32_t far_y = near_y + (at.y % 2 ? 1 : -1);
  int32_t far_x = near_x + (at.x % 2 ? 1 : -1);
  far_y = far_y < 0 ? 0 : far_y >= rows ? rows - 1 : far_y;
  far_x = far_x < 0 ? 0 : far_x >= columns ? columns - 1 : far_x;
  const Stored* const near_row = chroma + static_cast<int64_t>(near_y) * task.width + plane;
  const Stored* const far_row = chroma + static_cast<int64_t>(far_y) * task.width + plane;
  const int32_t near = 3 * (near_row[2 * near_x] >> shift) + (far_row[2 * near_x] >> shift);
  const int32_t far = 3 * (near_row[2 * far_x] >> shift) + (far_row[2 * far_x] >> shift);
  return 3 * near + far;
}

DC_HOST_DEV uint8_t saturated(float value) {
  const int32_t truncated = static_cast<int32_t>(value);
  return static_cast<uint8_t>(truncated < 0 ? 0 : truncated > 255 ? 255 : truncated);
}

// Writes one pixel. The order of the sums is the host's.
template <typename Stored>
DC_HOST_DEV void convert_pixel(const SurfaceTask& task, const Stored* surface, StoredPixel at,
                               uint8_t* out) {
  const int shift = static_cast<int>(8 * sizeof(Stored)) - task.bits;
  const Stored* const chroma = surface + static_cast<int64_t>(task.height) * task.width;
  const int32_t luma = surface[static_cast<int64_t>(at.y) * task.width + at.x] >> shift;
  const float y = static_cast<float>(luma);
  const float u = static_cast<float>(blended_chroma(chroma, task, at, 0, shift));
  const float v = static_cast<float>(blended_chroma(chroma, task, at, 1, shift));
  for (int32_t k = 0; k < task.channels; ++k) {
    const float* const factors = task.factors[k];
    const float mixed = y * factors[0] + u * factors[1] + v * factors[2] + task.offsets[k];
    out[task.swaps ? task.channels - 1 - k : k] = saturated(mixed);
  }
}

}  // namespace dali_core
