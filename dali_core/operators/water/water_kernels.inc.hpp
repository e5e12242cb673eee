// The loop of fn.water, compiled for every instruction set (see simd.hpp), hence without guard.

#include "dali_core/operators/warp_affine/warp_kernels.inc.hpp"

struct WaterCoordinates {
  const float* shifts_x;  // of each row
  const float* shifts_y;  // of each column

  void operator()(const int32_t* position, int count, float (&coordinates)[2][kWarpBlock]) const {
    const int32_t x = position[0];
    const float shift = shifts_x[position[1]];
    const float y = static_cast<float>(position[1]);
    const float* shifts = shifts_y + x;
    for (int i = 0; i < count; ++i) {
      coordinates[0][i] = static_cast<float>(x + i) + shift;
      coordinates[1][i] = y + shifts[i];
    }
  }
};

inline void warp_water(const WarpTask<2>& task, const float* shifts_x, const float* shifts_y) {
  warp_with(task, WaterCoordinates{shifts_x, shifts_y});
}
