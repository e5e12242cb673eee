// Makes pixels of surfaces, one a thread.
#include "dali_core/device_kernel.hpp"
#include "dali_core/kernels/video/surface_pixel.hpp"

extern "C" __global__ void convert_surfaces(const dali_core::SurfaceTask* tasks, int count) {
  using namespace dali_core;
  if (sample_of_block() >= count) return;
  const SurfaceTask task = tasks[sample_of_block()];
  const int64_t pixels = static_cast<int64_t>(task.height) * task.width;
  const int32_t upright_width = task.transpose ? task.height : task.width;
  for (int64_t i = first_item(); i < task.num_frames * pixels; i += item_step()) {
    const int64_t frame = quotient(i, pixels);
    const int64_t place = i - frame * pixels;
    const int64_t y = quotient(place, upright_width);
    const StoredPixel at = stored_pixel(task, static_cast<int32_t>(y),
                                        static_cast<int32_t>(place - y * upright_width));
    const char* const surface = static_cast<const char*>(task.in) + frame * task.frame_bytes;
    uint8_t* const out = task.out + i * task.channels;
    if (task.bits == 8)
      convert_pixel(task, reinterpret_cast<const uint8_t*>(surface), at, out);
    else
      convert_pixel(task, reinterpret_cast<const uint16_t*>(surface), at, out);
  }
}
